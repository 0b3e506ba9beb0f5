// Twenty rules of a policy, of which the last alone approves what a `User` started; nothing that comes before it matches.

const WHERE = { impacts: ['Redeploy', 'Terminate'], notice: { below: '30m' }, duration: { min: '0s', below: '9s' } };
const others = Array.from({ length: 19 }, (_, place) => ({ when: { ...WHERE, resources: [`other${place}_*`] }, then: 'wait' }));

export const TWENTY_RULES: readonly unknown[] = [...others, { when: { initiators: ['User'] }, then: 'approve' }];
