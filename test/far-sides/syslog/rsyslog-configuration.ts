// Addresses → rsyslog's configuration: every transport, one line of JSON for each message.
import { join } from 'node:path';
import type { DaemonPlace } from './daemons.ts';

/** The name of the file for RULE_BASE, in the folder of the output. */
export const RULES = 'cef.rulebase';
/** The rules for liblognorm: the whole message is CEF. */
export const RULE_BASE = 'version=2\nrule=:%f:cef%\n';

const FIELDS = {
  priority: 'pri',
  time: 'timereported" dateFormat="rfc3339',
  host: 'hostname',
  appName: 'app-name',
  messageId: 'msgid',
  structuredData: 'structured-data',
  message: 'msg',
  // rsyslog writes an object as a text.
  parsed: '$!',
};

export function rsyslogConfiguration({ folder, ports, certFile, keyFile, output }: DaemonPlace): string {
  const fields = Object.entries(FIELDS).map(
    ([name, property]) => `property(outname="${name}" name="${property}" format="jsonf")`,
  );
  return `
global(maxMessageSize="128k" workDirectory="${folder}" defaultNetstreamDriverCAFile="${certFile}"
  defaultNetstreamDriverCertFile="${certFile}" defaultNetstreamDriverKeyFile="${keyFile}")
module(load="imudp")
module(load="imptcp")
module(load="imtcp" streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="anon")
module(load="mmnormalize")
template(name="fields" type="list") { constant(value="{") ${fields.join(' constant(value=",") ')} constant(value="}\\n") }
input(type="imudp" address="127.0.0.1" port="${ports.udp}" ruleset="keep")
input(type="imptcp" address="127.0.0.1" port="${ports.tcp}" ruleset="keep")
input(type="imtcp" port="${ports.tls}" ruleset="keep")
input(type="imptcp" path="${join(folder, 'log.sock')}" unlink="on" ruleset="keep")
ruleset(name="keep") {
  action(type="mmnormalize" ruleBase="${join(folder, RULES)}" useRawMsg="off")
  action(type="omfile" file="${output}" template="fields")
}
`;
}
