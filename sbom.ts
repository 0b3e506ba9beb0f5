// Packages of the bundle, and what goes with them → a CycloneDX bill of materials, always the same.
import packageJson from './package.json' with { type: 'json' };
import type { BundledPackage } from './third-party-notices.ts';

type Component = Pick<BundledPackage, 'name' | 'version' | 'licence'>;

/** JSON of CycloneDX 1.6. Without serial number and time, so that two builds are equal; `node`: the Node that goes along. */
export function sbom(packages: readonly Component[], node: Component | null = null): string {
  const { name, version, license: licence } = packageJson;
  const component = { type: 'application', ...describe({ name, version, licence }) };
  const components = [
    ...packages.map((each) => ({ type: 'library', ...describe(each) })),
    ...(node ? [{ type: 'platform', ...describe(node) }] : []),
  ];
  const dependencies = [
    { ref: component['bom-ref'], dependsOn: components.map((each) => each['bom-ref']) },
    ...components.map((each) => ({ ref: each['bom-ref'] })),
  ];
  const head = { $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json', bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 };
  return `${JSON.stringify({ ...head, metadata: { component }, components, dependencies }, null, 2)}\n`;
}

function describe({ name, version, licence }: Component) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  // An expression such as (MIT OR Apache-2.0) is no id.
  const licences = /^[A-Za-z0-9.+-]+$/.test(licence) ? [{ license: { id: licence } }] : [{ expression: licence }];
  return { 'bom-ref': purl, name, version, licenses: licences, purl };
}
