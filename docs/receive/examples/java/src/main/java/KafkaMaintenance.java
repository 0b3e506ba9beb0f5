// KafkaMaintenance.java: records of a topic → Maintenance.java; approvals → another topic.
import io.cloudevents.CloudEvent;
import io.cloudevents.kafka.KafkaMessageFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public final class KafkaMaintenance {
  public static void main(String[] args) throws Exception {
    String brokers = Maintenance.env("BROKERS", "localhost:9092");
    String approvals = Maintenance.env("APPROVALS", "approvals");
    String group = Maintenance.env("GROUP", "maintenance-" + Maintenance.MACHINE); // of this machine alone: each machine needs every record
    var settings = Map.<String, Object>of(
        "bootstrap.servers", brokers,
        "group.id", group,
        "group.instance.id", group + "-0", // a restarted consumer has its partitions back at once
        "session.timeout.ms", 6_000, // one that stays away loses them after 6 s instead of 45: a Preempt gives 30 s of notice
        "heartbeat.interval.ms", 2_000,
        "max.poll.records", 1, // so that the next limit is for one record
        "max.poll.interval.ms", 900_000, // longer than the longest prepare()
        "auto.offset.reset", "earliest",
        "enable.auto.commit", false);
    var producerSettings = Map.<String, Object>of("bootstrap.servers", brokers, "acks", "all", "delivery.timeout.ms", 30_000, "request.timeout.ms", 10_000);
    try (var producer = new KafkaProducer<>(producerSettings, new StringSerializer(), new StringSerializer());
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer())) {
      var maintenance = new Maintenance((eventId, seen) -> {
        producer.send(new ProducerRecord<>(approvals, eventId.toLowerCase(Locale.ROOT), Maintenance.startRequest(eventId, seen))).get();
        return "sent"; // what becomes of it comes as approval.submitted or approval.failed
      });
      consumer.subscribe(List.of(Maintenance.env("TOPIC", "maintenance")), new Ready());
      while (true) {
        for (var record : consumer.poll(Duration.ofSeconds(1))) {
          receive(maintenance, record);
          consumer.commitSync();
        }
      }
    }
  }

  private static void receive(Maintenance maintenance, ConsumerRecord<String, byte[]> record) throws Exception {
    CloudEvent event;
    Maintenance.Change change;
    try {
      event = KafkaMessageFactory.createReader(record).toEvent();
      change = Maintenance.read(event);
    } catch (Exception error) { // whatever the SDK throws: the record will be no better the next time
      maintenance.skip(record.topic() + "/" + record.partition() + "/" + record.offset(), error);
      return;
    }
    maintenance.handle(event.getId(), change); // an error ends the program: its supervisor restarts it, and the record comes again
  }

  private static final class Ready implements ConsumerRebalanceListener {
    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      System.out.println("ready");
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}
  }
}
