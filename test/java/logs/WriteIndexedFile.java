import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationAccessType;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogKey;
import org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogValue;
import org.apache.hadoop.yarn.logaggregation.filecontroller.LogAggregationFileControllerContext;
import org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController;

/**
 * Writes an indexed log file by Hadoop's own class, for test/fixtures/indexed-logs:
 * java -cp "$(npm run -s cluster -- jars):…" WriteIndexedFile.java FOLDER none|gz UPLOADS
 */
class WriteIndexedFile {
  public static void main(String[] arguments) throws Exception {
    Path folder = Paths.get(arguments[0]).toAbsolutePath();
    int uploads = Integer.parseInt(arguments[2]);
    ApplicationId application = ApplicationId.newInstance(1795305600000L, 7);
    Path remote = Files.createDirectories(folder.resolve(application.toString()));
    Path local = Files.createTempDirectory("logs");

    Configuration configuration = new Configuration();
    configuration.set("fs.defaultFS", "file:///");
    configuration.set("yarn.nodemanager.log-aggregation.compression-type", arguments[1]);
    configuration.set("yarn.nodemanager.remote-app-log-dir", folder.toUri().toString());
    LogAggregationIndexedFileController controller = new LogAggregationIndexedFileController();
    controller.initialize(configuration, "IFile");

    UserGroupInformation user = UserGroupInformation.getCurrentUser();
    Map<ApplicationAccessType, String> acls = new HashMap<>();
    acls.put(ApplicationAccessType.VIEW_APP, "*");
    acls.put(ApplicationAccessType.MODIFY_APP, "ada");
    for (int upload = 1; upload <= uploads; upload++) {
      LogAggregationFileControllerContext context = new LogAggregationFileControllerContext(
          new org.apache.hadoop.fs.Path(remote.resolve("n1_8041").toUri()),
          new org.apache.hadoop.fs.Path(remote.resolve("n1_8041.tmp").toUri()),
          uploads > 1, 1, application, acls, NodeId.newInstance("n1", 8041), user);
      controller.initializeWriter(context);
      Path root = local.resolve(String.valueOf(upload));
      for (int number = 1; number <= 2; number++) {
        ContainerId container =
            ContainerId.newContainerId(ApplicationAttemptId.newInstance(application, 1), number);
        Path logs = Files.createDirectories(root.resolve(application + "/" + container));
        String numbers = IntStream.rangeClosed(1, 300).mapToObj(i -> i + "\n").collect(Collectors.joining());
        String name = upload < uploads ? "stdout.00000000000000000000" : "stdout";
        Files.write(logs.resolve(name), ("out " + number + " upload " + upload + " h\u00e4llo\n").getBytes("UTF-8"));
        Files.write(logs.resolve("stderr"), new byte[0]);
        Files.write(logs.resolve("am.log"), numbers.getBytes("UTF-8"));
        controller.write(
            new LogKey(container),
            new LogValue(Collections.singletonList(root.toString()), container, user.getShortUserName()));
      }
      controller.postWrite(context);
      controller.closeWriter();
    }
  }
}
