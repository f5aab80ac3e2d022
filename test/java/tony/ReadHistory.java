import com.linkedin.tony.events.Event;
import com.linkedin.tony.models.JobConfig;
import com.linkedin.tony.models.JobMetadata;
import com.linkedin.tony.util.ParserUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Reads jobs' history folders with TonY's own classes, as its history server and Dr. Elephant do, and prints what they find.
 *
 * Arguments: folders on the cluster's file system.
 */
public final class ReadHistory {
  public static void main(String[] folders) throws Exception {
    YarnConfiguration configuration = new YarnConfiguration(new Configuration());
    FileSystem files = FileSystem.get(configuration);
    for (String name : folders) {
      Path folder = new Path(name);
      System.out.println("folder " + folder.getName());
      JobMetadata job = ParserUtils.parseMetadata(files, configuration, folder, "^application_\\d+_\\d+$");
      System.out.println(job == null ? "job none" : "job " + job.getId() + " " + job.getUser() + " " + job.getStatus()
          + " " + job.getStarted() + " " + job.getCompleted());
      for (JobConfig setting : ParserUtils.parseConfig(files, folder)) {
        System.out.println("setting " + setting.getName() + " = " + setting.getValue());
      }
      for (Event event : ParserUtils.parseEvents(files, folder)) {
        System.out.println("event " + event.getTimestamp() + " " + event.getType() + " " + event.getEvent());
      }
    }
    System.exit(0);
  }
}
