// --config FILE → the checked configuration with its secrets; the defaults without a file.
import { dirname, resolve } from 'node:path';
import { ADAPTERS } from '../../adapters/index.ts';
import { type CheckedConfig, configError, defaultConfig, type ValidConfig } from '../config/check-config.ts';
import type { Config } from '../config/config.ts';
import type { SingleSection } from '../config/read-config.ts';
import { lookUp } from '../config/secrets.ts';
import type { Sections } from '../config/sections.ts';
import type { Warning } from '../config/warnings.ts';
import { BridgeError } from '../errors.ts';
import { folderWarning } from '../outbox/disk/private-folder.ts';
import { exposureOf } from '../secrets/file-exposure.ts';
import { fileReadFault, readRegularFile } from '../secrets/regular-file.ts';
import { usageError, type VerbContext } from './verb.ts';

/** @throws BridgeError BRIDGE_CONFIG_UNREADABLE, or BRIDGE_CONFIG_INVALID with every fault of the file. */
export async function loadConfig(context: VerbContext, file: string | undefined): Promise<Config> {
  return (await loadValidConfig(context, file)).options;
}

/**
 * Like `loadConfig`, with warnings about settings that are probably a mistake, including the store's folder.
 * @throws like `loadConfig`
 */
export async function loadValidConfig(context: VerbContext, file: string | undefined): Promise<ValidConfig> {
  const checked = await readConfigFile(context, file);
  if ('faults' in checked) throw configError(checked.faults);
  return checked;
}

/** @throws BridgeError BRIDGE_CONFIG_UNREADABLE */
async function readConfigFile(context: VerbContext, file: string | undefined): Promise<CheckedConfig> {
  const nowMs = context.deps.wallMs();
  const around = { adapters: ADAPTERS, env: context.env, readFile: readRegularFile, exposureOf, nowMs };
  const checked =
    file === undefined
      ? defaultConfig({ ...around, directory: '.' })
      : await (await import('../config/read-config.ts')).readConfigFully(read(file), {
          ...around,
          directory: dirname(resolve(file)),
        });
  if ('faults' in checked) return checked;
  return {
    ...checked,
    warnings: [...fileWarnings(file), ...checked.warnings, ...folderWarnings(checked.options.store.path)],
  };
}

/** For a reload of a running bridge: a file that cannot be read is a fault, not an exception. */
export async function readAgain(context: VerbContext, file: string): Promise<CheckedConfig> {
  try {
    return await readConfigFile(context, file);
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== 'BRIDGE_CONFIG_UNREADABLE') throw error;
    return { faults: [{ path: '', message: error.message }] };
  }
}

/** Reads one section without reading a secret; returns its defaults without a file. @throws like `loadConfig` */
export async function loadSection<Name extends SingleSection>(
  file: string | undefined,
  name: Name,
): Promise<Sections[Name]> {
  const { readSection } = await import('../config/read-config.ts');
  const checked = readSection(file === undefined ? '{}' : read(file), name);
  if ('faults' in checked) throw configError(checked.faults);
  return checked.options;
}

/**
 * Returns the token of the first approver with `admin: true` and a token. Reads no other secret.
 * @throws BridgeError BRIDGE_USAGE without such an approver, or if its token cannot be read; else like `loadConfig`
 */
export async function adminToken({ env }: VerbContext, file: string): Promise<string> {
  const { approvers } = await loadSection(file, 'approvals');
  const [name, { tokens: [token] = [] } = {}] =
    Object.entries(approvers).find(([, approver]) => approver.admin && approver.tokens.length > 0) ?? [];
  if (token === undefined) throw usageError(`no approver of ${file} has admin: true and a token`);
  const found = lookUp(token.reference, { env, readFile: readRegularFile, directory: dirname(resolve(file)) });
  if ('text' in found) return found.text;
  throw usageError(`the token of the admin ${name} cannot be read: ${found.fault}; --token-env names one of your own`);
}

function fileWarnings(file: string | undefined): Warning[] {
  const writers = file === undefined ? null : (exposureOf(file)?.writers ?? null);
  if (writers === null) return [];
  return [
    {
      path: '',
      message: `the configuration ${file} may be changed by ${writers}: allow only its owner to write to it`,
      isGrave: true,
    },
  ];
}

function folderWarnings(folder: string): Warning[] {
  const message = folderWarning(folder);
  return message === null ? [] : [{ path: 'store.path', message: `the folder ${folder} ${message}`, isGrave: true }];
}

function read(file: string): string {
  try {
    return readRegularFile(file);
  } catch (error) {
    const fault = fileReadFault(error);
    const advice = fault.includes('a pipe') ? ': write it to a file first, because a pipe may never end' : '';
    throw new BridgeError('BRIDGE_CONFIG_UNREADABLE', `the configuration ${file} ${fault}${advice}`, { cause: error });
  }
}
