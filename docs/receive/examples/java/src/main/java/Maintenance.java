// Maintenance.java: CloudEvents of a bridge → this machine prepared for each scheduled event, approved, and recovered afterwards.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.cloudevents.CloudEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

public final class Maintenance {
  static final ObjectMapper JSON = new ObjectMapper();
  static final String MACHINE = Objects.requireNonNull(System.getenv("MACHINE"), "MACHINE is not set").toLowerCase(Locale.ROOT);
  private static final String PREFIX = "io.github.scheduled-events-bridge.";
  private static final Set<String> KINDS = Set.of("scheduled", "updated", "started", "ended", "approval.failed");
  /** After these reasons the next CloudEvent of the event says what to do. For any other one somebody has to look. */
  private static final Set<String> NEWS_FOLLOWS = Set.of("changed", "started", "ended", "unknown", "old", "dry-run");
  private static final Set<String> GOOD = Set.of("sent", "submitted", "submitting", "waiting", "held", "moot");
  private static final Set<String> PREPARED = Set.of("preparing", "prepared", "started");
  private static final Pattern NUMBER = Pattern.compile(":r(\\d+)$");

  /** Drains this machine: put your own work here. It runs again after a crash or an update. If change.drill, skip what cannot be undone. */
  static void prepare(Change change) throws Exception {
    Thread.sleep(1000 * Long.parseLong(env("PREPARE_SECONDS", "1")));
  }

  /** Takes up work again: put your own here. It runs again after a crash. */
  static void recover() {}

  /** Takes an EventId and the id of the CloudEvent that was seen. Returns the result, or why it was refused. */
  interface Approver {
    String approve(String eventId, String seen) throws Exception;
  }

  /** `key` is the event to which it belongs; `result` the outcome of ended, or the reason of approval.failed. */
  record Change(String source, String id, String key, String kind, long timeMs, String observer, String eventId,
      String eventType, boolean hasStarted, Set<String> machines, Instant notBefore, boolean drill, String result) {
    /** How often the event came with this id: 2 for `…:r2`. */
    int number() {
      var found = NUMBER.matcher(id);
      return found.find() ? Integer.parseInt(found.group(1)) : 1;
    }

    /** Returns whether it belongs to a later occurrence than the last `ended` of the event. */
    boolean isNewer(Event event) {
      return number() > event.endNumber || observer != null && observer.equals(event.endObserver) && timeMs > event.endTimeMs;
    }
  }

  static final class Event {
    public String state = "unknown", seen, endObserver;
    public int tries, endNumber; // 0: it has not ended yet
    public long endTimeMs;
  }

  static final class State {
    public Map<String, Long> seen = new HashMap<>();
    public Map<String, Event> events = new HashMap<>();
  }

  private final Approver approver;
  private final Path file = Path.of(env("STATE", "maintenance.json"));
  private final State state;
  private int skipped;

  Maintenance(Approver approver) throws IOException {
    this.approver = approver;
    state = Files.exists(file) ? JSON.readValue(file.toFile(), State.class) : new State();
    System.err.println("resuming: prepared for " + prepared() + " events");
  }

  /** For how many events this machine is prepared. If it is not 0 after a restart, stay out of work. */
  long prepared() {
    return state.events.values().stream().filter(event -> PREPARED.contains(event.state)).count();
  }

  synchronized void skip(Object place, Exception error) {
    skipped++;
    System.out.println(("skipped " + skipped + ": " + place + ": " + error).replace('\n', ' '));
  }

  /** Returns the change in a CloudEvent, or null if its type is not needed. Throws if its data are not what the type promises. */
  static Change read(CloudEvent event) throws IOException {
    String type = event.getType();
    if (!type.startsWith(PREFIX) || !type.endsWith(".v1")) return null;
    String kind = type.substring(PREFIX.length(), type.length() - ".v1".length());
    if (!KINDS.contains(kind)) return null;
    JsonNode data = JSON.readTree(event.getData().toBytes());
    boolean isFailed = kind.equals("approval.failed");
    Set<String> machines = new HashSet<>();
    if (!isFailed) data.required("resources").forEach(name -> machines.add(name.asText().toLowerCase(Locale.ROOT)));
    String notBefore = isFailed ? null : data.required("notBefore").textValue();
    return new Change(event.getSource().toString(), event.getId(), event.getExtension("partitionkey").toString(), kind,
        event.getTime().toInstant().toEpochMilli(), data.required("observer").required("name").textValue(), data.required("eventId").asText(),
        isFailed ? null : data.required("eventType").asText(), data.path("eventStatus").asText().equals("Started"), machines, notBefore == null ? null : Instant.parse(notBefore),
        // data.drill, not the attribute: that is not signed in binary mode, and a text there.
        data.path("drill").asBoolean(), isFailed ? data.required("reason").asText() : data.path("outcome").asText());
  }

  /** Handles a change once. If it throws, call it again with the same change. `id` is the CloudEvent's. */
  synchronized void handle(String id, Change change) throws Exception {
    if (change == null) {
      System.out.println("passed " + id + ": other type");
      return;
    }
    String place = change.source + " " + change.id;
    String passed = state.seen.containsKey(place) ? "repeat" : act(change);
    if (passed != null) System.out.println("passed " + id + ": " + passed);
    state.seen.putIfAbsent(place, System.currentTimeMillis());
    store();
  }

  /** Returns why there was nothing to do, or null. */
  private String act(Change change) throws Exception {
    Event event = event(change);
    boolean follows = Set.of("updated", "approval.failed").contains(change.kind);
    if (follows ? event.state.equals("ended") : event.endNumber > 0 && !change.isNewer(event)) return "ended";
    boolean isPrepared = PREPARED.contains(event.state);
    if (change.kind.equals("approval.failed")) return isPrepared ? refused(change, event) : "not prepared for";
    if (change.kind.equals("ended")) return end(change, isPrepared);
    if (change.hasStarted && Set.of("prepared", "started").contains(event.state)) {
      save(change, "started", event.seen);
      System.out.println("started " + change.eventId);
      return null;
    }
    Instant stale = Instant.now().minus(Duration.ofMinutes(10));
    if (change.notBefore != null && change.notBefore.isBefore(stale)) return "old news";
    if (!isPrepared && !change.machines.contains(MACHINE)) return "not for this machine";
    save(change, "preparing", change.id); // on disk before the work
    System.out.println("preparing " + change.eventId + " " + change.eventType + (change.drill ? " (drill)" : ""));
    prepare(change);
    save(change, change.hasStarted ? "started" : "prepared", change.id);
    // A recommendation is advice: there is nothing to start.
    if (!change.hasStarted && !change.eventType.equals("SpotRebalanceRecommendation")) report(change, approver.approve(change.eventId, change.id));
    return null;
  }

  private String end(Change change, boolean isPrepared) throws IOException {
    long left = prepared() - (isPrepared ? 1 : 0);
    if (isPrepared && left == 0) recover();
    Event event = event(change);
    event.endNumber = change.number();
    event.endObserver = change.observer;
    event.endTimeMs = change.timeMs;
    save(change, "ended", null);
    if (!isPrepared) return "not prepared for";
    String line = change.eventId + ": " + change.result;
    System.out.println(left == 0 ? "recovered " + line : "ended " + line + ", " + left + " left");
    return null;
  }

  private String refused(Change change, Event event) throws Exception {
    report(change, change.result);
    if (change.result.equals("refused") && event.tries++ < 3) { // by the metadata service, though the event is still Scheduled
      Thread.sleep(1000);
      report(change, approver.approve(change.eventId, event.seen));
    }
    return null;
  }

  private void report(Change change, String result) {
    boolean isMended = NEWS_FOLLOWS.contains(result) || GOOD.contains(result) || result.equals("refused") && change.result.equals("refused");
    System.out.println("approval " + change.eventId + ": " + result + (isMended ? "" : ", needs an operator"));
  }

  private void save(Change change, String name, String seen) throws IOException {
    Event event = event(change);
    event.state = name;
    event.seen = seen;
    event.tries = 0;
    store();
  }

  private Event event(Change change) {
    return state.events.computeIfAbsent(change.source + " " + change.key, key -> new Event());
  }

  private void store() throws IOException {
    long oldest = System.currentTimeMillis() - Duration.ofDays(31).toMillis();
    state.seen.values().removeIf(at -> at < oldest);
    state.events.values().removeIf(event -> !PREPARED.contains(event.state) && event.endTimeMs < oldest);
    write(file, JSON.writeValueAsBytes(state));
  }

  /** Replaces the file. When it returns, the bytes are on disk. */
  static void write(Path file, byte[] bytes) throws IOException {
    Path unfinished = Path.of(file + ".tmp");
    try (var channel = FileChannel.open(unfinished, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(bytes));
      channel.force(true);
    }
    Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    try (var folder = FileChannel.open(file.toAbsolutePath().getParent())) {
      folder.force(true);
    }
  }

  /** The body of an approval. With Seen it counts only if the event has not got worse since that CloudEvent. */
  static String startRequest(String eventId, String seen) throws IOException {
    return JSON.writeValueAsString(Map.of("StartRequests", List.of(Map.of("EventId", eventId, "Seen", seen))));
  }

  static String env(String name, String otherwise) {
    return System.getenv().getOrDefault(name, otherwise);
  }
}
