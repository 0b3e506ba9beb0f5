// kafkajs → its classes, for those who import this file lazily: 18 MB that nobody pays for without a sink or source of this type.
import kafkajs from 'kafkajs';

// In the bundle a dynamic import of CommonJS has `default` alone; a static one is the same everywhere, and only so are its errors seen.
export const { Kafka, Partitioners, AssignerProtocol, CompressionCodecs, CompressionTypes, KafkaJSSASLAuthenticationError } = kafkajs;
