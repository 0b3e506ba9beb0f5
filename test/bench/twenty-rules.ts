// Nothing → a policy of twenty rules, of which the last alone matches what a `User` started.

const WHERE = { impacts: ['Redeploy', 'Terminate'], notice: { below: '30m' }, duration: { min: '0s', below: '9s' } };
const others = Array.from({ length: 19 }, (_, place) => ({
  when: { ...WHERE, resources: [`other${place}_*`] },
  then: 'wait',
}));

export const TWENTY_RULES: readonly unknown[] = [...others, { when: { initiators: ['User'] }, then: 'approve' }];
