// The keys that say which api-versions a host knows, for scenarios and tests.
import * as v from 'valibot';
import { API_VERSIONS } from '../../model/api-versions.ts';

const MESSAGE = 'must be 400 or 404';

/** By key, all optional; HostVersionsWanted. */
export const hostEntries = {
  apiVersions: v.exactOptional(v.pipe(v.array(v.picklist(API_VERSIONS)), v.minLength(1))),
  unknownApiVersion: v.exactOptional(v.picklist([400, 404], MESSAGE)),
};
