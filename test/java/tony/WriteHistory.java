import com.linkedin.tony.events.ApplicationFinished;
import com.linkedin.tony.events.ApplicationInited;
import com.linkedin.tony.events.Event;
import com.linkedin.tony.events.EventHandler;
import com.linkedin.tony.events.EventType;
import com.linkedin.tony.events.Metric;
import com.linkedin.tony.events.TaskFinished;
import com.linkedin.tony.events.TaskStarted;
import com.linkedin.tony.models.JobMetadata;
import java.util.Collections;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** Writes the history of a job as TonY's ApplicationMaster does. Argument: a folder of this machine. */
public final class WriteHistory {
  public static void main(String[] arguments) throws Exception {
    FileSystem files = FileSystem.getLocal(new Configuration(false));
    Path folder = new Path(arguments[0]);
    String id = "application_1600000000000_0001";
    EventHandler handler = new EventHandler(files, new LinkedBlockingQueue<>());
    JobMetadata.Builder job = new JobMetadata.Builder().setId(id).setStarted(1000L).setUser("ada").setConf(new YarnConfiguration());
    handler.setUpThread(folder, job.build());
    handler.start();
    handler.emitEvent(new Event(EventType.APPLICATION_INITED, new ApplicationInited(id, 1, "n1", "container_1"), 1000L));
    handler.emitEvent(new Event(EventType.TASK_STARTED, new TaskStarted("worker", 0, "n2", null), 2000L));
    Metric memory = new Metric("MAX_MEMORY_BYTES", 1.5e9);
    handler.emitEvent(new Event(EventType.TASK_FINISHED,
        new TaskFinished("worker", 0, "SUCCEEDED", Collections.singletonList(memory), ""), 3000L));
    handler.emitEvent(new Event(EventType.APPLICATION_FINISHED,
        new ApplicationFinished(id, 1, 0, Collections.emptyList()), 4000L));
    handler.stop(folder, job.setCompleted(4000L).setStatus("SUCCEEDED").build());
    handler.join();
    System.exit(0);
  }
}
