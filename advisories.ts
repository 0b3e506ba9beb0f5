// The bundle's bill of materials and npm's advisories → lines; exit code 1 for a grave one.
// node advisories.ts [SBOM [ALLOWED]]. All packages are bundled, so `npm audit` in the checkout finds none: it is asked
// about a project that depends on them. The registry, and the way to it, are those of npm's own configuration.
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';

interface Package {
  readonly name: string;
  readonly version: string;
}

interface Advisory extends Package {
  readonly id: string;
  readonly severity: string;
  readonly title: string;
  readonly url: string;
  readonly range: string;
}

const GRAVE = ['high', 'critical'];
/** A weakness of 2022. A registry that does not report it has no advisories, though it may answer 200. */
const CANARY: Package = { name: 'minimist', version: '0.0.8' };
const LARGEST_ANSWER_BYTES = 64 * 1024 * 1024;
const NPM_OPTIONS = [
  '--json',
  '--package-lock-only',
  '--audit=true',
  '--offline=false',
  '--fetch-timeout=30000',
  '--fetch-retries=1',
];

const bomSchema = v.object({
  components: v.array(v.object({ name: v.string(), version: v.string(), type: v.string(), purl: v.string() })),
});
const allowedSchema = v.array(
  v.strictObject({
    advisory: v.pipe(v.string(), v.regex(/^GHSA(?:-[0-9a-z]{4}){3}$/, 'must be an id such as GHSA-xvch-5gv4-984h')),
    package: v.pipe(v.string(), v.nonEmpty()),
    reason: v.pipe(v.string(), v.minLength(20, 'must say why, in 20 characters at least')),
    /** The last day on which it is allowed. */
    until: v.pipe(v.string(), v.isoDate('must be a date such as 2027-01-31')),
  }),
);
type Allowed = v.InferOutput<typeof allowedSchema>[number];

const viaSchema = v.object({
  name: v.string(),
  title: v.string(),
  url: v.string(),
  severity: v.string(),
  range: v.string(),
});
const reportSchema = v.object({
  auditReportVersion: v.number(),
  vulnerabilities: v.record(v.string(), v.object({ via: v.array(v.union([viaSchema, v.string()])) })),
});
const failureSchema = v.object({ statusCode: v.number() });

const [bomFile = 'dist/sbom.cdx.json', allowedFile = 'advisories.json'] = process.argv.slice(2);
process.exitCode = await run();

async function run(): Promise<number> {
  const allowed = await readAllowed(allowedFile);
  if (allowed === null) return 1;
  const { components } = v.parse(bomSchema, JSON.parse(await readFile(bomFile, 'utf8')));
  // Node is listed as a platform; bills of the image and of the .zip have libraries of Debian and Go, too.
  const packages = components.filter(({ type, purl }) => type === 'library' && purl.startsWith('pkg:npm/'));
  const [count, are] = packages.length === 1 ? ['1 package', 'was'] : [`${packages.length} packages`, 'were'];
  const found = await advisoriesOf(packages);
  if (typeof found === 'string') {
    print(`advisories: the registry gives none (${found}): the ${count} of the bundle ${are} not compared`);
    return 0;
  }
  const grave = printAll(found, allowed);
  const result = found.length === 0 ? 'nothing is known of them' : summary(found, grave);
  print(`advisories: ${count} of the bundle ${are} compared: ${result}`);
  return grave.length === 0 ? 0 : 1;
}

/** Returns null if the list has faults, which it prints. */
async function readAllowed(file: string): Promise<readonly Allowed[] | null> {
  const read = v.safeParse(allowedSchema, JSON.parse(await readFile(file, 'utf8')));
  if (read.success) return read.output;
  for (const issue of read.issues)
    process.stderr.write(`${file}: ${v.getDotPath(issue) ?? 'the list'}: ${issue.message}\n`);
  return null;
}

/** Prints each advisory, and each entry of the list that allows nothing. Returns the advisories that fail the check. */
function printAll(advisories: readonly Advisory[], allowed: readonly Allowed[]): readonly Advisory[] {
  const today = new Date().toISOString().slice(0, 10);
  const grave = advisories.filter((advisory) => {
    const entry = allowed.find((each) => each.advisory === advisory.id && each.package === advisory.name);
    const isAllowed = entry !== undefined && entry.until >= today;
    const note =
      entry === undefined
        ? ''
        : isAllowed
          ? `; allowed until ${entry.until}: ${entry.reason}`
          : `; was allowed until ${entry.until}`;
    print(`${describe(advisory)}${note}`);
    return GRAVE.includes(advisory.severity) && !isAllowed;
  });
  for (const each of allowed)
    if (!advisories.some(({ id, name }) => id === each.advisory && name === each.package))
      print(`${allowedFile}: ${each.advisory} of ${each.package} concerns nothing in the bundle and can be taken out`);
  return grave;
}

function describe({ name, version, severity, title, id, range, url }: Advisory): string {
  return `${name} ${version}: ${severity}: ${title} (${id}, versions ${range}, ${url})`;
}

function summary(found: readonly Advisory[], grave: readonly Advisory[]): string {
  const others = found.filter(({ severity }) => !GRAVE.includes(severity)).length;
  const allowed = found.length - others - grave.length;
  return `${grave.length} grave ${grave.length === 1 ? 'advisory' : 'advisories'}, ${others} ${others === 1 ? 'other' : 'others'}, ${allowed} allowed`;
}

/** Returns what concerns these versions, or why the registry gives nothing. */
async function advisoriesOf(packages: readonly Package[]): Promise<readonly Advisory[] | string> {
  const found: Advisory[] = [];
  for (const project of projectsOf([...packages, CANARY])) {
    const answer = await audit(project);
    if (typeof answer === 'string') return answer;
    found.push(...answer);
  }
  const isCanary = ({ name, version }: Package) => name === CANARY.name && version === CANARY.version;
  if (!found.some(isCanary)) return `it does not report ${CANARY.name} ${CANARY.version}`;
  return packages.some(isCanary) ? found : found.filter((advisory) => !isCanary(advisory));
}

/** A project has each package once, so that what npm says of a name is about one version. */
function projectsOf(packages: readonly Package[]): readonly (readonly Package[])[] {
  const byName = [...Map.groupBy(packages, ({ name }) => name).values()];
  const most = Math.max(...byName.map(({ length }) => length));
  return Array.from({ length: most }, (_, nth) => byName.flatMap((versions) => versions[nth] ?? []));
}

async function audit(packages: readonly Package[]): Promise<readonly Advisory[] | string> {
  const folder = await mkdtemp(join(tmpdir(), 'advisories-'));
  try {
    const dependencies = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
    const locked = packages.map(({ name, version }) => [`node_modules/${name}`, { version }]);
    const project = { name: 'bundle', version: '0.0.0' };
    const lock = {
      ...project,
      lockfileVersion: 3,
      packages: { '': { ...project, dependencies }, ...Object.fromEntries(locked) },
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify({ ...project, dependencies }));
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
    // If it names a registry, that one counts.
    await copyFile('.npmrc', join(folder, '.npmrc'));
    return readReport(await npmAudit(folder), packages);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Resolves with standard output, whatever the exit code: npm ends with 1 after a finding and after a failure. */
function npmAudit(folder: string): Promise<string> {
  return new Promise((resolve) => {
    execFile('npm', ['audit', ...NPM_OPTIONS], { cwd: folder, maxBuffer: LARGEST_ANSWER_BYTES }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}

function readReport(text: string, packages: readonly Package[]): readonly Advisory[] | string {
  const json = jsonOf(text);
  const report = v.safeParse(reportSchema, json);
  if (!report.success) {
    const failure = v.safeParse(failureSchema, json);
    return failure.success ? `it answers ${failure.output.statusCode}` : 'npm could not ask it';
  }
  const versions = new Map(packages.map(({ name, version }) => [name, version]));
  const reported = Object.values(report.output.vulnerabilities).flatMap(({ via }) => via);
  // A text is the name of another package, which has its own entry.
  return reported.flatMap((each) =>
    typeof each === 'string' ? [] : [{ ...each, version: versions.get(each.name) ?? '', id: idOf(each.url) }],
  );
}

function idOf(url: string): string {
  return url.split('/').at(-1) ?? url;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
