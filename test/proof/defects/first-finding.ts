// A seed, a limit and a fault → plays histories until one has this fault; prints what it found.
import { judgedWorld } from '../simulation/judged-world.ts';

/** What this program prints, as JSON in its last line. */
export interface FirstFinding {
  /** Histories that were played. */
  readonly histories: number;
  readonly maintenances: number;
  /** Null if no history has the fault. */
  readonly what: string | null;
  /** What was found as another fault before, by fault. */
  readonly others: Readonly<Record<string, string>>;
}

const [seed = 1, most = 0] = process.argv.slice(2, 4).map(Number);
const fault = process.argv[4];
const others: Record<string, string> = {};
let [histories, maintenances] = [0, 0];
let what: string | null = null;
while (what === null && maintenances < most) {
  const judged = await judgedWorld(seed, histories);
  histories += 1;
  maintenances += judged.maintenances;
  what = judged.findings.find((finding) => finding.fault === fault)?.what ?? null;
  for (const finding of judged.findings) others[finding.fault] ??= finding.what;
}
const finding: FirstFinding = { histories, maintenances, what, others };
process.stdout.write(`${JSON.stringify(finding)}\n`);
