// The parts of jose that are used. Import it lazily, where `approvals.jwt` is configured.
export { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
