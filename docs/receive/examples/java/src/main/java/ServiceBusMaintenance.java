// ServiceBusMaintenance.java: messages of a subscription with sessions → Maintenance.java; approvals → a queue.
import com.azure.identity.DefaultAzureCredentialBuilder;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessageContext;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import io.cloudevents.CloudEvent;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.jackson.JsonFormat;
import java.net.URI;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.concurrent.CountDownLatch;

public final class ServiceBusMaintenance {
  private static Maintenance maintenance;

  public static void main(String[] args) throws Exception {
    String connection = Maintenance.env("SERVICE_BUS", "my-ns.servicebus.windows.net");
    var builder = new ServiceBusClientBuilder();
    if (connection.startsWith("Endpoint=")) builder.connectionString(connection);
    else builder.credential(connection, new DefaultAzureCredentialBuilder().build());
    var sender = builder.sender().queueName(Maintenance.env("APPROVALS", "approvals")).buildClient();
    maintenance = new Maintenance((eventId, seen) -> {
      sender.sendMessage(new ServiceBusMessage(Maintenance.startRequest(eventId, seen)));
      return "sent"; // what becomes of it comes as approval.submitted or approval.failed
    });
    // One scheduled event is one session. The lock is short (PT5S), so that a killed consumer blocks its sessions for 5 s only.
    builder.sessionProcessor()
        .topicName(Maintenance.env("TOPIC", "maintenance"))
        .subscriptionName(Maintenance.env("SUBSCRIPTION", "orders"))
        .maxConcurrentSessions(8)
        .sessionIdleTimeout(Duration.ofSeconds(1)) // a minute by default, for which the ninth event would wait
        .maxAutoLockRenewDuration(Duration.ofMinutes(15)) // longer than the longest prepare()
        .disableAutoComplete()
        .processMessage(ServiceBusMaintenance::receive)
        .processError(context -> System.err.println(context.getErrorSource() + ": " + context.getException().getMessage()))
        .buildProcessorClient()
        .start();
    System.out.println("ready");
    new CountDownLatch(1).await();
  }

  private static void receive(ServiceBusReceivedMessageContext context) {
    CloudEvent event;
    Maintenance.Change change;
    try {
      event = eventIn(context.getMessage());
      change = Maintenance.read(event);
    } catch (Exception error) { // whatever the SDK throws: the message will be no better the next time
      maintenance.skip(context.getMessage().getMessageId(), error);
      context.deadLetter(new DeadLetterOptions().setDeadLetterReason("not a CloudEvent"));
      return;
    }
    try {
      maintenance.handle(event.getId(), change);
    } catch (Exception error) { // its supervisor restarts the program, and the message comes again
      error.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
    context.complete();
  }

  private static CloudEvent eventIn(ServiceBusReceivedMessage message) {
    byte[] body = message.getBody().toBytes();
    String type = message.getContentType() == null ? "" : message.getContentType();
    if (type.startsWith("application/cloudevents+json")) return new JsonFormat().deserialize(body);
    // The SDK has no binding for the messages of Azure's client.
    var builder = CloudEventBuilder.v1().withData(type, body);
    message.getApplicationProperties().forEach((property, value) -> {
      if (!property.matches("cloudEvents[_:].*")) return;
      String name = property.substring("cloudEvents_".length());
      switch (name) {
        case "specversion" -> {}
        case "id" -> builder.withId(value.toString());
        case "source" -> builder.withSource(URI.create(value.toString()));
        case "type" -> builder.withType(value.toString());
        case "time" -> builder.withTime(OffsetDateTime.parse(value.toString()));
        case "subject" -> builder.withSubject(value.toString());
        case "dataschema" -> builder.withDataSchema(URI.create(value.toString()));
        default -> builder.withExtension(name, value.toString());
      }
    });
    return builder.build();
  }
}
