import com.linkedin.tony.Constants;
import com.linkedin.tony.TonyConfigurationKeys;
import com.linkedin.tony.events.Event;
import com.linkedin.tony.events.Metric;
import com.linkedin.tony.events.TaskFinished;
import com.linkedin.tony.events.TaskStarted;
import com.linkedin.tony.util.ParserUtils;
import java.time.ZoneId;
import java.util.Date;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Finds a job's history as Dr. Elephant does (com.linkedin.drelephant.tony.fetchers.TonyFetcher, data.TonyApplicationData), from the
 * site's file and what the ResourceManager says of the job alone, and prints what its heuristics work on.
 *
 * Arguments: the folder of tony-site.xml, the application's id, when it ended by the ResourceManager, in milliseconds since the epoch.
 */
public final class FetchForDrElephant {
  public static void main(String[] arguments) throws Exception {
    Configuration site = new Configuration();
    site.addResource(new Path(arguments[0], Constants.TONY_SITE_CONF));
    Path finished = new Path(site.get(TonyConfigurationKeys.TONY_HISTORY_FINISHED));
    FileSystem files = finished.getFileSystem(site);
    ZoneId zone = ZoneId.of(site.get(TonyConfigurationKeys.TONY_HISTORY_FINISHED_DIR_TIMEZONE, "UTC"));
    String day = ParserUtils.getYearMonthDayDirectory(new Date(Long.parseLong(arguments[2])), zone);
    Path job = new Path(finished, day + Path.SEPARATOR + arguments[1]);
    if (!files.exists(job)) job = new Path(site.get(TonyConfigurationKeys.TONY_HISTORY_INTERMEDIATE), arguments[1]);
    System.out.println("folder " + job.toUri().getPath());

    Configuration settings = new Configuration(false);
    settings.addResource(files.open(new Path(job, Constants.TONY_FINAL_XML)));
    System.out.println("name " + settings.get("tony.application.name"));
    for (Map.Entry<String, String> setting : new TreeMap<>(settings.getValByRegex("tony\\.([a-z]+)\\.instances")).entrySet()) {
      String role = setting.getKey().split("\\.")[1];
      System.out.println("role " + role + " × " + setting.getValue() + " memory " + settings.get("tony." + role + ".memory")
          + " gpus " + settings.get("tony." + role + ".gpus"));
    }
    Map<String, Long> started = new TreeMap<>();
    for (Event event : ParserUtils.parseEvents(files, job)) {
      if (event.getEvent() instanceof TaskStarted) {
        TaskStarted task = (TaskStarted) event.getEvent();
        started.put(task.getTaskType() + ":" + task.getTaskIndex(), event.getTimestamp());
      } else if (event.getEvent() instanceof TaskFinished) {
        TaskFinished task = (TaskFinished) event.getEvent();
        String id = task.getTaskType() + ":" + task.getTaskIndex();
        StringBuilder line = new StringBuilder("task " + id + " ran " + (event.getTimestamp() - started.get(id)) + " ms");
        for (Metric metric : task.getMetrics()) line.append(" ").append(metric.getName()).append("=").append(metric.getValue());
        System.out.println(line);
      }
    }
    System.exit(0);
  }
}
