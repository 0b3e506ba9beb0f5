// kafkajs → its classes. Import it lazily: it takes 18 MB.
import kafkajs from 'kafkajs';

// In the bundle a dynamic import of CommonJS has `default` alone; a static one is the same everywhere, and only so are its errors seen.
export const { Kafka, Partitioners, AssignerProtocol, CompressionCodecs, CompressionTypes, KafkaJSSASLAuthenticationError } = kafkajs;
