// What is in use of the budgets that hold an approval back → its schema in OpenAPI.
import { count, id, list, object, type SchemaNode, shape, textOrNull, timeOrNull } from './operation.ts';

const BUDGET = shape('BudgetUse', {
  name: { ...id, description: 'Its name in `approvals.budgets`.' },
  atMost: { type: 'integer', minimum: 1 },
  used: { ...count, description: 'How many machines are in use.' },
  machines: {
    ...list(
      object({
        name: { ...id, description: 'In lower case.' },
        eventId: { ...textOrNull, description: 'The event that uses it; null if that event has ended.' },
        until: { ...timeOrNull, description: 'When the `rest` of an ended event is over.' },
      }),
    ),
    maxItems: 100,
    description: 'The first hundred machines in use.',
  },
});

export const BUDGET_USE: SchemaNode = {
  ...list(BUDGET),
  description: 'What is in use of the budgets in `heldBackBy`; absent if none holds the approval back.',
};
