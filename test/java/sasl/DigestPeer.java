import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.sasl.AuthorizeCallback;
import javax.security.sasl.RealmCallback;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslClient;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;

/**
 * The JDK's own DIGEST-MD5, set up as Hadoop sets it up (SaslRpcServer, SaslRpcClient): the yardstick for ours.
 *
 *   java DigestPeer.java record            prints recorded exchanges between the JDK's client and server as JSON
 *   java DigestPeer.java serve QOP         is the server on its standard streams, one base64 text a line:
 *                                          > challenge  < response  > proof, or "refused"; then < wrapped  > the same message, wrapped
 */
public final class DigestPeer {
  private static final String NAME = Base64.getEncoder().encodeToString("the token's identifier".getBytes(StandardCharsets.UTF_8));
  private static final String PASSWORD = Base64.getEncoder().encodeToString("the token's password".getBytes(StandardCharsets.UTF_8));
  private static final String PROTOCOL = "";
  private static final String SERVER_ID = "default";
  private static final String[][] PROTECTIONS = {
    {"auth", ""}, {"auth-int", ""}, {"auth-conf", "rc4"}, {"auth-conf", "3des"},
    {"auth-conf", "des"}, {"auth-conf", "rc4-56"}, {"auth-conf", "rc4-40"}
  };

  public static void main(String[] args) throws IOException {
    if (args.length == 1 && args[0].equals("record")) {
      record();
    } else if (args.length == 2 && args[0].equals("serve")) {
      serve(args[1]);
    } else {
      System.err.println("usage: DigestPeer record | serve QOP");
      System.exit(2);
    }
  }

  private static void record() throws IOException {
    StringBuilder json = new StringBuilder("[");
    for (String[] protection : PROTECTIONS) {
      json.append(json.length() == 1 ? "\n" : ",\n").append(exchange(protection[0], protection[1]));
    }
    System.out.println(json.append("\n]"));
  }

  private static String exchange(String qop, String cipher) throws IOException {
    SaslServer server = server(qop);
    Map<String, String> properties = cipher.isEmpty()
        ? Map.of(Sasl.QOP, qop, Sasl.SERVER_AUTH, "true")
        : Map.of(Sasl.QOP, qop, Sasl.SERVER_AUTH, "true", "com.sun.security.sasl.digest.cipher", cipher);
    SaslClient client = Sasl.createSaslClient(
        new String[] {"DIGEST-MD5"}, null, PROTOCOL, SERVER_ID, properties, DigestPeer::answer);
    byte[] challenge = server.evaluateResponse(new byte[0]);
    byte[] response = client.evaluateChallenge(challenge);
    byte[] proof = server.evaluateResponse(response);
    client.evaluateChallenge(proof);
    StringBuilder messages = new StringBuilder("[");
    if (!qop.equals("auth")) {
      for (int length : new int[] {1, 5, 6, 7, 8, 14, 64, 300}) {
        byte[] message = message(length);
        if (messages.length() > 1) messages.append(", ");
        messages.append(String.format("{\"clear\": \"%s\", \"byClient\": \"%s\", \"byServer\": \"%s\"}",
            text(message), text(client.wrap(message, 0, length)), text(server.wrap(message, 0, length))));
      }
    }
    return String.format(
        "{\"qop\": \"%s\", \"cipher\": \"%s\", \"name\": \"%s\", \"password\": \"%s\", \"challenge\": \"%s\", "
            + "\"response\": \"%s\", \"proof\": \"%s\", \"messages\": %s]}",
        qop, cipher, NAME, PASSWORD, text(challenge), text(response), text(proof), messages);
  }

  private static void serve(String qop) throws IOException {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    SaslServer server = server(qop);
    System.out.println(text(server.evaluateResponse(new byte[0])));
    try {
      System.out.println(text(server.evaluateResponse(bytes(input.readLine()))));
    } catch (SaslException refused) {
      System.out.println("refused");
      return;
    }
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      byte[] wrapped = bytes(line);
      byte[] clear = server.unwrap(wrapped, 0, wrapped.length);
      System.out.println(text(server.wrap(clear, 0, clear.length)));
    }
  }

  private static SaslServer server(String qop) throws SaslException {
    return Sasl.createSaslServer(
        "DIGEST-MD5", PROTOCOL, SERVER_ID, Map.of(Sasl.QOP, qop, Sasl.SERVER_AUTH, "true"), DigestPeer::answer);
  }

  /** What either side is asked by its mechanism. */
  private static void answer(Callback[] callbacks) {
    for (Callback callback : callbacks) {
      if (callback instanceof NameCallback name) {
        name.setName(NAME);
      } else if (callback instanceof PasswordCallback password) {
        password.setPassword(PASSWORD.toCharArray());
      } else if (callback instanceof RealmCallback realm) {
        realm.setText(realm.getDefaultText());
      } else if (callback instanceof AuthorizeCallback authorize) {
        authorize.setAuthorized(true);
      }
    }
  }

  private static byte[] message(int length) {
    byte[] message = new byte[length];
    for (int index = 0; index < length; index++) {
      message[index] = (byte) (index * 7 + length);
    }
    return message;
  }

  private static String text(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private static byte[] bytes(String text) {
    return Base64.getDecoder().decode(text);
  }
}
