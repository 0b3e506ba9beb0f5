// The routes of the main listener → their OpenAPI document, for tests that compare answers with it.
import type { Access } from '../../src/http/access.ts';
import { type BridgePorts, bridgeRoutes } from '../../src/http/bridge-routes.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';

/** What the routes serve is not asked for: only what they say of themselves is read. */
export const ROUTES = bridgeRoutes({} as BridgePorts, {} as Access);

export const OPENAPI_DOCUMENT = openApiDocument(ROUTES);
