// Every target of hostile input, by name.
import type { Target } from './target.ts';
import { ANSWER_TARGETS } from './targets/answers.ts';
import { BODY_TARGETS } from './targets/bodies.ts';
import { CONSUMER_TARGETS } from './targets/consumers.ts';
import { DOCUMENT_TARGETS } from './targets/documents.ts';
import { LINE_TARGETS } from './targets/lines.ts';

export const TARGETS: readonly Target[] = [
  ...DOCUMENT_TARGETS,
  ...BODY_TARGETS,
  ...ANSWER_TARGETS,
  ...LINE_TARGETS,
  ...CONSUMER_TARGETS,
];
