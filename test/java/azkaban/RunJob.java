import azkaban.ServiceProvider;
import azkaban.jobExecutor.Job;
import azkaban.jobtype.JobTypeManager;
import azkaban.metrics.CommonMetrics;
import azkaban.metrics.MetricsManager;
import azkaban.utils.Props;
import com.codahale.metrics.MetricRegistry;
import com.google.inject.Guice;
import com.google.inject.Scopes;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import org.apache.log4j.ConsoleAppender;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.codehaus.jackson.map.ObjectMapper;

/**
 * Runs one job as Azkaban's executor does, by the job types of a folder. Its log is printed; the last line is `result: …`, with the job's
 * output properties. A line on standard input cancels it.
 *
 * Arguments: the folder of job types, the flow's properties, the job's properties, its working directory.
 */
public final class RunJob {
  public static void main(String[] arguments) throws Exception {
    ServiceProvider.SERVICE_PROVIDER.setInjector(Guice.createInjector(binder -> {
      binder.bind(MetricRegistry.class).in(Scopes.SINGLETON);
      binder.bind(MetricsManager.class).in(Scopes.SINGLETON);
      binder.bind(CommonMetrics.class).in(Scopes.SINGLETON);
    }));
    ConsoleAppender console = new ConsoleAppender(new PatternLayout("%p %m%n"));
    console.setWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
    Logger.getRootLogger().addAppender(console);

    Props flow = new Props(null, new File(arguments[1]));
    Props properties = new Props(flow, new File(arguments[2]));
    properties.put("working.dir", arguments[3]);
    JobTypeManager jobTypes = new JobTypeManager(arguments[0], new Props(), RunJob.class.getClassLoader());
    Job job = jobTypes.buildJobExecutor(properties.get("azkaban.job.id"), properties, Logger.getLogger("job"));
    cancelAtALine(job);

    String result = "succeeded";
    try {
      job.run();
    } catch (Exception failure) {
      Logger.getRootLogger().error("The job failed.", failure);
      result = "failed";
    }
    Props output = job.getJobGeneratedProperties();
    String json = new ObjectMapper().writeValueAsString(output == null ? null : output.getFlattened());
    System.out.println("result: " + result + " " + json);
    System.out.flush();
    System.exit(0);
  }

  private static void cancelAtALine(Job job) {
    Thread reader = new Thread(() -> {
      try {
        if (new BufferedReader(new InputStreamReader(System.in)).readLine() != null) job.cancel();
      } catch (Exception failure) {
        Logger.getRootLogger().error("cannot cancel", failure);
      }
    });
    reader.setDaemon(true);
    reader.start();
  }
}
