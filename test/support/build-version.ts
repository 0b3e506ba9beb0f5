// This checkout → the version that the built command says.
import { join } from 'node:path';
import { buildVersion } from '../../version.ts';

export const BUILD_VERSION = await buildVersion(join(import.meta.dirname, '../..'));
