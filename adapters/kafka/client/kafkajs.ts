// kafkajs → its classes. Import it lazily: it takes 18 MB.
import kafkajs from 'kafkajs';

// In the bundle, a dynamic import of CommonJS has only `default`. A static import behaves the same everywhere, and the
// compiler checks its names.
export const {
  Kafka,
  Partitioners,
  AssignerProtocol,
  CompressionCodecs,
  CompressionTypes,
  KafkaJSSASLAuthenticationError,
} = kafkajs;
