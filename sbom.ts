// Packages of the bundle, and what goes with them → a CycloneDX bill of materials, always the same.
import packageJson from './package.json' with { type: 'json' };
import type { BundledPackage } from './third-party-notices.ts';

type Component = Pick<BundledPackage, 'name' | 'version' | 'licence'>;

/**
 * JSON of CycloneDX 1.6. Without serial number and time, so that two builds are equal; `version`: of the build;
 * `node`: the Node that goes along.
 */
export function sbom(packages: readonly Component[], version: string, node: Component | null = null): string {
  const { name, license: licence } = packageJson;
  const component = { type: 'application', ...describe({ name, version, licence }) };
  const components = [
    ...packages.map((each) => ({ type: 'library', ...describe(each) })),
    ...(node ? [{ type: 'platform', ...describe(node) }] : []),
  ];
  const dependencies = [
    { ref: component['bom-ref'], dependsOn: components.map((each) => each['bom-ref']) },
    ...components.map((each) => ({ ref: each['bom-ref'] })),
  ];
  const head = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
  };
  return `${JSON.stringify({ ...head, metadata: { component }, components, dependencies }, null, 2)}\n`;
}

/** A package of Debian that goes along. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** The bill of materials, and these packages in it; their licences stand in what they bring. */
export function withDebianPackages(bom: string, packages: readonly DebianPackage[]): string {
  const { dependencies, components, ...head } = JSON.parse(bom) as {
    components: readonly object[];
    dependencies: readonly [{ ref: string; dependsOn: readonly string[] }, ...object[]];
  };
  const added = packages.map(({ name, version, architecture }) => {
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
    return { type: 'library', 'bom-ref': purl, name, version, purl };
  });
  const refs = added.map(({ purl }) => purl);
  const [program, ...others] = dependencies;
  const all = [{ ...program, dependsOn: [...program.dependsOn, ...refs] }, ...others, ...refs.map((ref) => ({ ref }))];
  return `${JSON.stringify({ ...head, components: [...components, ...added], dependencies: all }, null, 2)}\n`;
}

function describe({ name, version, licence }: Component) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  // An expression such as (MIT OR Apache-2.0) is no id.
  const licences = /^[A-Za-z0-9.+-]+$/.test(licence) ? [{ license: { id: licence } }] : [{ expression: licence }];
  return { 'bom-ref': purl, name, version, licenses: licences, purl };
}
