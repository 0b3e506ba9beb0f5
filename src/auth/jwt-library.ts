// What of jose is used, so that the bundle has no more; import it lazily, where `approvals.jwt` is configured.
export { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
