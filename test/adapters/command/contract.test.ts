// The adapter contract for command, clause by clause, with a program that records its runs.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { CloudEvent } from 'cloudevents';
import { commandSink } from '../../../adapters/command/command.ts';
import { type FarSide, testAdapter } from '../contract.ts';
import { Scripts } from './start-command.ts';

const RECORDER = `
: > "$FAR/contact.$BRIDGE_RUN"
case "$(cat "$FAR/mode")" in
  hang) : > "$FAR/stuck"; exec sleep 1000 ;;
  refuse) exit 65 ;;
esac
cat > "$FAR/in.$BRIDGE_RUN" && mv "$FAR/in.$BRIDGE_RUN" "$FAR/runs/$(date +%s%N).$BRIDGE_RUN"
`;

testAdapter({
  definition: commandSink,
  start: startRecorder,
  awayIs: 'misconfigured',
  skip: { 'an overload is retried after the pause that the far side asks for': 'a program asks for no pause' },
});

async function startRecorder(t: TestContext): Promise<FarSide> {
  const scripts = new Scripts(t);
  const path = scripts.write('recorder', RECORDER);
  const away = scripts.path('away');
  const mode = (text: string) => writeFileSync(scripts.path('mode'), text);
  mkdirSync(scripts.path('runs'));
  mode('accept');
  return {
    options: { run: [path], env: { FAR: scripts.folder, TOKEN: { env: 'FAR_TOKEN' } } },
    secrets: { FAR_TOKEN: 'a-secret-that-nobody-may-see' },
    arrivals: () =>
      readdirSync(scripts.path('runs'))
        .sort()
        .map((name) => readFileSync(scripts.path(`runs/${name}`)))
        .map((bytes) => ({ bytes, event: new CloudEvent(JSON.parse(bytes.toString()), true) })),
    contacts: () => readdirSync(scripts.folder).filter((name) => name.startsWith('contact.')).length,
    hang: () => mode('hang'),
    isStuck: () => existsSync(scripts.path('stuck')),
    stuckBytes: 0,
    accept: () => mode('accept'),
    refuse: () => mode('refuse'),
    leave: async () => renameSync(path, away),
    comeBack: async () => renameSync(away, path),
  };
}
