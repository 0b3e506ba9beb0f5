// Records of a topic → one step each, committed after it; approvals to another topic.
package main

import (
	"context"
	"log"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/cloudevents/sdk-go/protocol/kafka_sarama/v2"
	"github.com/cloudevents/sdk-go/v2/binding"
)

func kafka(ctx context.Context, m *Maintenance) error {
	config := sarama.NewConfig()
	config.Version = sarama.V2_8_0_0
	config.Consumer.Offsets.Initial = sarama.OffsetOldest   // old news is passed
	config.Consumer.Offsets.AutoCommit.Enable = false       // committed after the work
	config.Consumer.Group.InstanceId = m.machine            // after kill -9 the same member is back at once
	config.Consumer.Group.Session.Timeout = 6 * time.Second // a Preempt gives 30 s
	config.Consumer.Group.Heartbeat.Interval = 2 * time.Second
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Producer.Retry.Max, config.Producer.Retry.Backoff = 60, time.Second // a broker that is away for a minute
	client, err := sarama.NewClient(strings.Split(env("BROKERS", "localhost:9092"), ","), config)
	if err != nil {
		return err
	}
	defer client.Close()
	producer, err := sarama.NewSyncProducerFromClient(client)
	if err != nil {
		return err
	}
	m.approve = func(_ context.Context, eventID, seen string) string {
		key, value := sarama.StringEncoder(strings.ToLower(eventID)), sarama.ByteEncoder(startRequest(eventID, seen))
		if _, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: env("APPROVALS", "approvals"), Key: key, Value: value}); err != nil {
			return err.Error()
		}
		return "sent" // a refusal comes as approval.failed
	}
	// Each machine needs every record, so each has a group of its own.
	group, err := sarama.NewConsumerGroupFromClient(env("GROUP", "maintenance-"+m.machine), client)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := group.Consume(ctx, []string{env("TOPIC", "maintenance")}, (*claims)(m)); err != nil {
			log.Printf("failed: %s", err)
			_ = sleep(ctx, time.Second)
		}
	}
	return group.Close()
}

type claims Maintenance

func (*claims) Setup(sarama.ConsumerGroupSession) error {
	log.Print("ready")
	return nil
}

func (*claims) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim handles the records of one partition in turn. What fails is not committed, and so is read again.
func (c *claims) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case <-session.Context().Done():
			return nil
		case record, isOpen := <-claim.Messages():
			if !isOpen {
				return nil
			}
			event, err := binding.ToEvent(session.Context(), kafka_sarama.NewMessageFromConsumerMessage(record))
			if err = (*Maintenance)(c).take(session.Context(), event, err); err != nil && err != errUnreadable {
				log.Printf("failed: offset %d: %s", record.Offset, err)
				return sleep(session.Context(), time.Second)
			}
			session.MarkMessage(record, "")
			session.Commit()
		}
	}
}
