import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.runtime.DockerLinuxContainerRuntime;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.runtime.OCIContainerRuntime;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.runtime.RuncContainerRuntime;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.runtime.ContainerRuntimeConstants;

/** What a NodeManager's runtimes read out of a container's environment, which is given as NAME=value; they print a line for each thing. */
public class ReadImage {
  public static void main(String[] variables) throws Exception {
    Map<String, String> environment = new HashMap<>();
    for (String variable : variables) {
      int equals = variable.indexOf('=');
      environment.put(variable.substring(0, equals), variable.substring(equals + 1));
    }
    Configuration configuration = new Configuration(false);
    boolean docker = DockerLinuxContainerRuntime.isDockerContainerRequested(configuration, environment);
    boolean runc = RuncContainerRuntime.isRuncContainerRequested(configuration, environment);
    System.out.println("requested " + (docker ? "docker" : runc ? "runc" : "none"));
    String image = environment.get(docker
        ? DockerLinuxContainerRuntime.ENV_DOCKER_CONTAINER_IMAGE
        : RuncContainerRuntime.ENV_RUNC_CONTAINER_IMAGE);
    DockerLinuxContainerRuntime.validateImageName(image);
    System.out.println("image " + image);
    String mounts = environment.get(docker
        ? DockerLinuxContainerRuntime.ENV_DOCKER_CONTAINER_MOUNTS
        : RuncContainerRuntime.ENV_RUNC_CONTAINER_MOUNTS);
    System.out.println("mounts " + read(mounts));
    System.out.println("unknown " + unknown(environment, docker ? DockerLinuxContainerRuntime.class : RuncContainerRuntime.class));
  }

  /** By the pattern that the runtimes use. */
  private static List<String> read(String mounts) throws Exception {
    Field pattern = OCIContainerRuntime.class.getDeclaredField("USER_MOUNT_PATTERN");
    pattern.setAccessible(true);
    Matcher matcher = ((Pattern) pattern.get(null)).matcher(mounts);
    List<String> found = new ArrayList<>();
    while (matcher.find()) {
      found.add(matcher.group(1) + " at " + matcher.group(2) + " " + matcher.group(4));
    }
    return found;
  }

  /** Variables that the runtime has no constant for. */
  private static TreeSet<String> unknown(Map<String, String> environment, Class<?> runtime) throws Exception {
    TreeSet<String> names = new TreeSet<>(environment.keySet());
    names.remove(ContainerRuntimeConstants.ENV_CONTAINER_TYPE);
    for (Field field : runtime.getDeclaredFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getName().startsWith("ENV_")) {
        names.remove((String) field.get(null));
      }
    }
    return names;
  }
}
