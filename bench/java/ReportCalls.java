import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Calls getApplicationReport with Hadoop's own client and several calls in flight: the figure to which ours is compared.
 * Arguments: application id, calls in flight, warm-up calls, counted calls. Prints calls per second.
 */
public class ReportCalls {
  public static void main(String[] arguments) throws Exception {
    ApplicationId application = ApplicationId.fromString(arguments[0]);
    int inFlight = Integer.parseInt(arguments[1]);
    YarnClient client = YarnClient.createYarnClient();
    client.init(new YarnConfiguration());
    client.start();
    run(client, application, inFlight, Integer.parseInt(arguments[2]));
    int counted = Integer.parseInt(arguments[3]);
    long started = System.nanoTime();
    run(client, application, inFlight, counted);
    System.out.println(counted / ((System.nanoTime() - started) / 1e9));
    client.stop();
  }

  private static void run(YarnClient client, ApplicationId application, int inFlight, int calls) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(inFlight);
    AtomicInteger left = new AtomicInteger(calls);
    for (int thread = 0; thread < inFlight; thread++) {
      threads.submit(() -> {
        while (left.getAndDecrement() > 0) client.getApplicationReport(application);
        return null;
      });
    }
    threads.shutdown();
    if (!threads.awaitTermination(5, java.util.concurrent.TimeUnit.MINUTES)) throw new IllegalStateException("calls hang");
  }
}
