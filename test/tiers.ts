// A test file → its tier: `npm test` runs the quick one, `npm run test:long` the long one.
import { matchesGlob } from 'node:path';

/** The files of the long tier, by the reason for it. */
export const LONG: Readonly<Record<string, readonly string[]>> = {
  'random or hostile traffic': ['test/whole/*.test.ts'],
  'the built bridge under kills, full disks and broken brokers': [
    'test/whole/faults/*.test.ts',
    'test/whole/process/*-kill.test.ts',
    'test/whole/bridge/{kill,approval-kills,group-processes}.test.ts',
    'test/whole/cli/consent.test.ts',
  ],
  'the parts of npm run proof': ['test/proof/**/*.test.ts'],
  'commands and programs of the pages': ['test/docs/*.test.ts'],
  'whole programs in other languages': ['test/consumers/*.test.ts'],
  'the packed package': ['test/package/*.test.ts'],
  'repositories of packages, with apt and dnf': ['test/deploy/repositories.test.ts'],
  'the far sides themselves': ['test/far-sides/**/*.test.ts'],
  'faults and order with real brokers': [
    'test/adapters/kafka/{order,batch-order,source-compression,source-faults,source-group}.test.ts',
    'test/adapters/service-bus/{given-namespace,source-faults,source-sessions}.test.ts',
  ],
  'a thousand programs at once': ['test/adapters/command/lane.test.ts'],
  'real syslog daemons': ['test/adapters/syslog/daemons.test.ts'],
  'ten thousand months, and two hundred on whole bridges': ['test/whole/approvals/months-*.test.ts'],
  'long days and random groups': ['test/whole/bridge/{channels,clock-at-boot,day,group-random}.test.ts'],
  'every option of every verb': [
    'test/whole/cli/{acts,completion,drill,end-while-starting,health,hostile-texts,policy,reload,status,store-verbs,tail,top,unfit-files,usage}.test.ts',
  ],
  'accessibility in a browser': [
    'test/whole/{console,simulator-page}/*-care.test.ts',
    'test/whole/simulator-page/page-orders.test.ts',
  ],
};

export const TIERS = ['quick', 'long'] as const;
export type Tier = (typeof TIERS)[number];

/** @param file its path from the root, with `/` */
export function tierOf(file: string): Tier {
  return Object.values(LONG).some((globs) => globs.some((glob) => matchesGlob(file, glob))) ? 'long' : 'quick';
}
