import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceUtilization;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.api.ResourceTracker;
import org.apache.hadoop.yarn.server.api.ServerRMProxy;
import org.apache.hadoop.yarn.server.api.protocolrecords.NodeHeartbeatRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.RegisterNodeManagerRequest;
import org.apache.hadoop.yarn.server.api.records.NodeHealthStatus;
import org.apache.hadoop.yarn.server.api.records.NodeStatus;

/**
 * Registers nodes with a ResourceManager and reports for them as NodeManagers do; they are too small for any container: Nodes COUNT INTERVAL_MS.
 * Prints a line when all are registered, and ends when its input ends.
 */
public class Nodes {
  private static final Resource SMALL = Resource.newInstance(64, 1);
  private static final ResourceUtilization UNUSED = ResourceUtilization.newInstance(0, 0, 0);

  public static void main(String[] words) throws Exception {
    int count = Integer.parseInt(words[0]);
    long intervalMs = Long.parseLong(words[1]);
    ResourceTracker tracker = ServerRMProxy.createRMProxy(new YarnConfiguration(), ResourceTracker.class);
    List<NodeId> nodes = new ArrayList<>();
    for (int index = 0; index < count; index++) {
      NodeId node = NodeId.newInstance(String.format("node-%05d.dc-1.example.com", index), 8041);
      nodes.add(node);
      tracker.registerNodeManager(
          RegisterNodeManagerRequest.newInstance(node, 8042, SMALL, "3.4.2", List.of(), List.of(), Set.of()));
    }
    System.out.println("registered");
    Thread reports = new Thread(() -> report(tracker, nodes, intervalMs));
    reports.setDaemon(true);
    reports.start();
    while (System.in.read() >= 0) {
      // What is read does not matter, only the end of the input.
    }
    System.exit(0);
  }

  /** Reports for each node once in the interval, one after the other. */
  private static void report(ResourceTracker tracker, List<NodeId> nodes, long intervalMs) {
    int[] responseIds = new int[nodes.size()];
    try {
      while (true) {
        long dueMs = System.currentTimeMillis() + intervalMs;
        for (int index = 0; index < responseIds.length; index++) {
          NodeHealthStatus health = NodeHealthStatus.newInstance(true, "", System.currentTimeMillis());
          NodeStatus status = NodeStatus.newInstance(
              nodes.get(index), responseIds[index], List.of(), List.of(), health, UNUSED, UNUSED, List.of());
          responseIds[index] =
              tracker.nodeHeartbeat(NodeHeartbeatRequest.newInstance(status, null, null, null)).getResponseId();
        }
        Thread.sleep(Math.max(1, dueMs - System.currentTimeMillis()));
      }
    } catch (Exception error) {
      System.err.println("nodes report no more: " + error);
      System.exit(1);
    }
  }
}
