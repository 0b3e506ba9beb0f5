// .deb and .rpm without a running systemd → a configuration after an upgrade, a removal (12.4).
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeLinuxPackages } from '../../deploy/packages/linux-packages.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { noPackages } from './built-packages.ts';
import { command } from './command.ts';
import { onLayeredMachine } from './layered-machine.ts';

const NAME = packageJson.name;
const options = { skip: noPackages };
const FOLDER = mkdtempSync(join(tmpdir(), 'upgrade-'));
after(() => rmSync(FOLDER, { recursive: true }));

/** As `npm run package` makes them, of a program that prints its version, with a reference of its own. */
async function smallPackages(version: string): Promise<void> {
  const [work, out] = [join(FOLDER, version), join(FOLDER, version, 'out')];
  const program = join(work, 'program');
  for (const each of [join(program, 'bin'), out]) mkdirSync(each, { recursive: true });
  writeFileSync(join(program, 'bin', NAME), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  writeFileSync(join(work, 'bridge.yaml'), `# the reference of ${version}\n`);
  const root = join(import.meta.dirname, '../..');
  await makeLinuxPackages({ root, version, architecture: 'x64', program, work, out, at: new Date(0) });
}

before(async () => {
  if (noPackages) return;
  for (const version of ['1.0.0', '1.1.0']) await smallPackages(version);
});

function path(version: string, ending: string): string {
  const out = join(FOLDER, version, 'out');
  return join(out, readdirSync(out).find((name) => name.endsWith(ending)) ?? assert.fail(ending));
}

/** Nobody answers a question of dpkg: standard input is at its end. */
function deb(script: string): readonly string[] {
  return onLayeredMachine(`
    one() { dpkg --no-triggers --force-unsafe-io --install ${path('1.0.0', '.deb')} >&2; }
    two() { dpkg --no-triggers --force-unsafe-io --install ${path('1.1.0', '.deb')} >&2; }
    config=/etc/${NAME}/bridge.yaml
    ${script}
  `)
    .trim()
    .split('\n');
}

test(
  'a .deb is upgraded without a question over an edited configuration, which stays; the new reference lies beside the program',
  options,
  () => {
    const printed = deb(`one; echo "# mine" > $config; chmod 600 $config
    two; ${NAME}; cat $config; stat --format=%a $config; cat /usr/share/${NAME}/bridge.yaml; ls -A /etc/${NAME} /usr/share/${NAME}`);
    assert.deepEqual(printed, [
      ...['1.1.0', '# mine', '600', '# the reference of 1.1.0'],
      ...[`/etc/${NAME}:`, 'bridge.yaml', '', `/usr/share/${NAME}:`, 'bridge.yaml'],
    ]);
  },
);

test(
  'a .deb renews an unedited configuration, keeps one that was there before it, and creates a missing one',
  options,
  () => {
    assert.deepEqual(deb('one; cat $config; stat --format="%a %U" $config; two; cat $config; one; cat $config'), [
      ...['# the reference of 1.0.0', '644 root', '# the reference of 1.1.0', '# the reference of 1.0.0'],
    ]);
    assert.deepEqual(
      deb(`mkdir /etc/${NAME}; echo "# earlier" > $config; one; two; cat $config; rm $config; one; cat $config`),
      [...['# earlier', '# the reference of 1.0.0']],
    );
  },
);

test('without systemd, a removal of the .deb keeps the configuration, and a purge deletes everything', options, () => {
  const printed = deb(`one; echo "# mine" > $config; dpkg --remove ${NAME} >&2; cat $config; one; cat $config
    mkdir -p /var/lib/private/${NAME} /var/log/private/${NAME}; ln -s private/${NAME} /var/lib/${NAME}; ln -s private/${NAME} /var/log/${NAME}
    dpkg --purge ${NAME} >&2; find /etc /var/lib /var/log /usr/share /usr/lib /usr/bin -name '*${NAME}*'; echo end`);
  assert.deepEqual(printed, ['# mine', '# mine', 'end']);
});

test('an .rpm keeps an edited configuration at an upgrade, and adds the new one as .rpmnew', options, () => {
  const printed = onLayeredMachine(`
    cd /
    rpm --install --nodeps ${path('1.0.0', '.rpm')} >&2
    cat /etc/${NAME}/bridge.yaml
    rpm --upgrade --nodeps ${path('1.1.0', '.rpm')} >&2
    cat /etc/${NAME}/bridge.yaml
    echo "# mine" > /etc/${NAME}/bridge.yaml
    rpm --upgrade --oldpackage --nodeps ${path('1.0.0', '.rpm')} >&2
    cat /etc/${NAME}/bridge.yaml /etc/${NAME}/bridge.yaml.rpmnew
    ${NAME}
  `);
  const lines = ['# the reference of 1.0.0', '# the reference of 1.1.0', '# mine', '# the reference of 1.0.0', '1.0.0'];
  assert.deepEqual(printed.trim().split('\n'), lines);
});

test('a package says what changed, and the description of the .rpm does not repeat its summary', options, () => {
  const [deb, rpm] = [path('1.1.0', '.deb'), path('1.1.0', '.rpm')];
  const list = `/usr/share/doc/${NAME}/CHANGELOG.md.gz`;
  const archive = command('sh', ['-c', `dpkg-deb --fsys-tarfile ${deb} | tar -xO .${list} | gunzip`]);
  assert.equal(archive, readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8'));
  assert.ok(command('rpm', ['-qpl', rpm]).split('\n').includes(list));
  const changes = command('rpm', ['-qp', '--changelog', rpm]);
  assert.match(changes, new RegExp(`^\\* Thu Jan 01 1970 .* - 1\\.1\\.0\\n- .*${list}`));
  const [summary, ...description] = command('rpm', ['-qp', '--queryformat', '%{SUMMARY}\n%{DESCRIPTION}', rpm]).split(
    '\n',
  );
  assert.equal(description[0], 'One process beside an Azure VM asks the metadata service for Scheduled Events');
  assert.ok(!description.includes(summary ?? ''));
});

for (const [what, edit] of [
  ['as it was installed', ':'],
  ['edited', 'echo "# mine" >> bridge.yaml'],
] as const) {
  test(`rpm -e keeps the configuration, ${what}, and a later rpm -i uses it unchanged`, options, () => {
    const rpm = path('1.0.0', '.rpm');
    const printed = onLayeredMachine(`
      rpm --install --nodeps ${rpm} >&2
      cd /etc/${NAME}
      ${edit}
      sha256sum bridge.yaml
      rpm --erase ${NAME} >&2
      sha256sum bridge.yaml
      ls -A
      rpm --install --nodeps ${rpm} >&2
      sha256sum bridge.yaml
    `);
    const [before = '', kept, folder, after] = printed.trim().split('\n');
    assert.match(before, /^[0-9a-f]{64} {2}bridge\.yaml$/);
    assert.deepEqual([kept, folder, after], [before, 'bridge.yaml', before]);
  });
}
