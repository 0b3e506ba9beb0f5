// Errors of Node's resolver and of connections → words that name the host and what to check.
import assert from 'node:assert/strict';
import test from 'node:test';
import { nameAdvice, nameAdviceIn, unreachableWords } from '../../../src/net/network-codes.ts';

function dnsError(code: string): Error {
  const message = `getaddrinfo ${code} hooks.example.com`;
  return Object.assign(new Error(message), { code, syscall: 'getaddrinfo', hostname: 'hooks.example.com' });
}

const NO_SERVER =
  'the name hooks.example.com could not be resolved (EAI_AGAIN: no name server answers): check the network and the DNS of this machine';
const NO_NAME =
  'the name hooks.example.com could not be resolved (ENOTFOUND: the name servers do not know it): correct the name, or check the DNS of this machine';

test('a name without an address is named, with the reason of the resolver', () => {
  assert.equal(nameAdvice('EAI_AGAIN', dnsError('EAI_AGAIN')), NO_SERVER);
  assert.equal(nameAdvice('ENOTFOUND', dnsError('ENOTFOUND')), NO_NAME);
  assert.equal(nameAdvice('ECONNREFUSED', dnsError('ECONNREFUSED')), undefined);
  assert.match(nameAdvice('ENOTFOUND', new Error('x')) ?? '', /^its name could not be resolved \(ENOTFOUND/);
  assert.match(nameAdvice('EAI_AGAIN', new Error('x'), 'b.test') ?? '', /^the name b\.test could not be resolved/);
});

test('the text of an SDK that quotes the resolver gets the same words', () => {
  assert.equal(nameAdviceIn('request failed, reason: getaddrinfo EAI_AGAIN hooks.example.com'), NO_SERVER);
  assert.equal(nameAdvice('ENOTFOUND', new Error('x: getaddrinfo ENOTFOUND hooks.example.com')), NO_NAME);
  assert.equal(nameAdviceIn('connect ECONNREFUSED 127.0.0.1:9'), undefined);
});

test('other connections that fail keep their code and the advice of the caller', () => {
  assert.equal(
    unreachableWords('EHOSTUNREACH', new Error('x'), 'check the firewall'),
    'cannot be reached (EHOSTUNREACH): check the firewall',
  );
  assert.equal(
    unreachableWords('ECONNREFUSED', new Error('x'), 'check the firewall'),
    'cannot be reached (ECONNREFUSED): nothing listens there: check that it is running, its address and port',
  );
  assert.equal(unreachableWords('EAI_AGAIN', dnsError('EAI_AGAIN'), 'y'), `cannot be reached: ${NO_SERVER}`);
});
