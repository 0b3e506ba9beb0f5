// WebhookMaintenance.java: signed deliveries → Maintenance.java; approvals → the bridge's HTTP interface.
import com.standardwebhooks.Webhook;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.cloudevents.jackson.JsonFormat;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Semaphore;

public final class WebhookMaintenance {
  private static final String BRIDGE = Maintenance.env("BRIDGE", "http://127.0.0.1:8700");
  private static final Set<Integer> PASSING = Set.of(429, 502, 503, 504); // asked again for a minute
  private static final Path INBOX = Path.of(Maintenance.env("STATE", "maintenance.json") + ".inbox");
  private static final String TOKEN = Objects.requireNonNull(System.getenv("BRIDGE_TOKEN"), "BRIDGE_TOKEN is not set");
  private static final HttpClient http = HttpClient.newHttpClient();
  private static final Semaphore arrived = new Semaphore(0);
  private static Webhook webhook;
  private static Maintenance maintenance;
  private static long place = System.currentTimeMillis() * 1000; // after those of an earlier process

  public static void main(String[] args) throws Exception {
    webhook = new Webhook(Objects.requireNonNull(System.getenv("HOOK_SECRET"), "HOOK_SECRET is not set"));
    maintenance = new Maintenance(WebhookMaintenance::approve);
    Files.createDirectories(INBOX);
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(Maintenance.env("PORT", "9000")));
    var server = HttpServer.create(address, 0);
    server.createContext("/maintenance", exchange -> {
      try (exchange) {
        exchange.sendResponseHeaders(statusOf(exchange), -1);
      }
    });
    server.start();
    System.out.println("ready");
    work();
  }

  private static int statusOf(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    try {
      webhook.verify(new String(body, StandardCharsets.UTF_8), HttpHeaders.of(exchange.getRequestHeaders(), (name, value) -> true));
    } catch (Exception error) { // a header that is not a signature throws more than WebhookVerificationException
      return 401;
    }
    try {
      Maintenance.read(new JsonFormat().deserialize(body));
    } catch (Exception error) { // whatever the SDK throws
      maintenance.skip("delivery", error);
      return 400; // the bridge makes it a dead letter
    }
    Maintenance.write(INBOX.resolve(place++ + ".json"), body); // on disk before the answer; the work comes after it
    arrived.release();
    return 204;
  }

  /** Works through the inbox in order. An error ends the program: its supervisor restarts it, and the inbox is worked through again. */
  private static void work() {
    try {
      while (true) {
        arrived.drainPermits();
        for (Path file; (file = oldest()) != null; Files.delete(file)) {
          var event = new JsonFormat().deserialize(Files.readAllBytes(file));
          maintenance.handle(event.getId(), Maintenance.read(event));
        }
        arrived.acquire();
      }
    } catch (Exception error) {
      error.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }

  private static Path oldest() throws IOException {
    try (var files = Files.list(INBOX)) {
      return files.filter(file -> file.toString().endsWith(".json")).sorted().findFirst().orElse(null);
    }
  }

  private static String approve(String eventId, String seen) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(BRIDGE + "/v1/approvals"))
        .header("Authorization", "Bearer " + TOKEN)
        .header("Content-Type", "application/json")
        .timeout(Duration.ofSeconds(15))
        .POST(HttpRequest.BodyPublishers.ofString(Maintenance.startRequest(eventId, seen)))
        .build();
    long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
    while (true) {
      long pauseMs = 1000;
      String result = "unreachable";
      try {
        var answer = http.send(request, BodyHandlers.ofString());
        pauseMs = 1000 * answer.headers().firstValueAsLong("Retry-After").orElse(1);
        var body = Maintenance.JSON.readTree(answer.body());
        if (answer.statusCode() < 300) return body.required("results").required(0).required("state").asText();
        result = body.required("type").asText();
        if (!PASSING.contains(answer.statusCode())) return result;
      } catch (IOException | IllegalArgumentException error) { // away, or the page of a proxy
        System.err.println(error.getMessage());
      }
      if (System.nanoTime() + pauseMs * 1_000_000 > deadline) return result;
      Thread.sleep(pauseMs);
    }
  }
}
