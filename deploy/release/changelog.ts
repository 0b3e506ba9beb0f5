// A changelog with an Unreleased section → the same with a section for the release.

interface Release {
  readonly version: string;
  /** Such as 2026-11-24. */
  readonly day: string;
}

const UNRELEASED = '## [Unreleased]\n';
const UPGRADE_NOTES = /^### Upgrade notes\n+(?!#)\S/m;

/**
 * Returns the changelog with everything under Unreleased moved to the release.
 *
 * @throws Error if nothing is under Unreleased, or no upgrade notes are
 */
export function releasedChangelog(text: string, release: Release): string {
  const { before, section, after } = parted(text);
  if (section === '') throw new Error('CHANGELOG.md has nothing under [Unreleased]: there is nothing to release');
  if (!UPGRADE_NOTES.test(section))
    throw new Error(
      'CHANGELOG.md has no text under "### Upgrade notes" of [Unreleased]: say what users must know and do, or that they need do nothing',
    );
  return joined(before, section, after, release);
}

/** Returns the library's changelog with a section for the release, also if nothing is under Unreleased. */
export function releasedLibraryChangelog(text: string, release: Release): string {
  const { before, section, after } = parted(text);
  return joined(before, section === '' ? 'Nothing has changed.' : section, after, release);
}

function parted(text: string) {
  const [before, rest] = text.split(UNRELEASED, 2);
  if (before === undefined || rest === undefined) throw new Error('the changelog has no line "## [Unreleased]"');
  const end = rest.search(/^## /m);
  const [section, after] = end < 0 ? [rest, ''] : [rest.slice(0, end), rest.slice(end)];
  return { before, section: section.trim(), after };
}

function joined(before: string, section: string, after: string, { version, day }: Release): string {
  return `${before}${UNRELEASED}\n## [${version}] - ${day}\n\n${section}\n${after && `\n${after}`}`;
}
