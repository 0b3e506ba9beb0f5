// jose → the functions that we use. Import it lazily, only if `approvals.jwt` is configured.
export { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
