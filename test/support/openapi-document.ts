// The routes of the main listener → their OpenAPI document, for tests that compare answers with it.
import { type BridgePorts, describedRoutes } from '../../src/http/bridge-routes.ts';
import type { Callers } from '../../src/http/callers.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';

/** What the routes serve is not asked for: only what they say of themselves is read. */
export const ROUTES = describedRoutes({} as BridgePorts, {} as Callers);

export const OPENAPI_DOCUMENT = openApiDocument(ROUTES);
