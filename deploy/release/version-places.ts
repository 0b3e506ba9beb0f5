// A file → the places that name the last release, and the same with another version.

/** The top of package.json, and the two places of package-lock.json. */
const MANIFEST =
  /(?<=^\{\n {2}"name": "[^"]+",\n {2}"version": "|^ {4}"": \{\n {6}"name": "[^"]+",\n {6}"version": ")\d+\.\d+\.\d+/gm;
/** File names and image tags, the versions of the chart and of its image, and the first line of `status`. */
const NAMED =
  /(?<=scheduled-events-bridge(?:-consumer)?[-_:]|^(?:appVersion|version| {2}tag): "?|^machine .*, version )\d+\.\d+\.\d+(?!-dev)/gm;

/** Returns whether a file may name the version of the last release. Changelogs name every version. */
export function mayNameVersion(path: string): boolean {
  return (
    /^(?:package(?:-lock)?\.json$|README|docs\/|deploy\/|test\/deploy\/chart-values\/)/.test(path) &&
    /\.(?:json|ya?ml|md|tpl|service)$/.test(path) &&
    !path.includes('CHANGELOG')
  );
}

/** Returns each version of the project that the file names. */
export function namedVersions(path: string, text: string): readonly string[] {
  return text.match(patternOf(path)) ?? [];
}

/** Returns the file with `version` in each of these places. */
export function withVersion(path: string, text: string, version: string): string {
  return text.replaceAll(patternOf(path), version);
}

function patternOf(path: string): RegExp {
  return /^package(?:-lock)?\.json$/.test(path) ? MANIFEST : NAMED;
}
