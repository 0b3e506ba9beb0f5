// A test → certificates of its own authority, made with openssl, in a folder that goes with it.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Texts in PEM, and the files that hold them. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export class CertificateAuthority {
  /** Its own certificate. */
  readonly file: string;
  readonly cert: string;
  readonly #folder: string;
  #issued = 0;

  private constructor(folder: string, file: string) {
    this.#folder = folder;
    this.file = file;
    this.cert = readFileSync(file, 'utf8');
  }

  static async create(t: TestContext): Promise<CertificateAuthority> {
    const folder = await mkdtemp(join(tmpdir(), 'bridge-ca-'));
    t.after(() => rm(folder, { recursive: true }));
    return await CertificateAuthority.createIn(folder);
  }

  /** In a folder that the caller removes. */
  static async createIn(folder: string): Promise<CertificateAuthority> {
    const [file, keyFile] = [join(folder, 'ca.pem'), join(folder, 'ca-key.pem')];
    await run('openssl', [
      'req',
      '-x509',
      ...EC_KEY,
      '-days',
      '2',
      '-subj',
      '/CN=authority',
      '-keyout',
      keyFile,
      '-out',
      file,
    ]);
    return new CertificateAuthority(folder, file);
  }

  /**
   * For a name such as `IP:127.0.0.1` or `DNS:named.test`, or for several; valid for two days, or until yesterday.
   * `usage`: `serverAuth` for servers alone.
   */
  async issue(name: string | null, { expired = false, subject = '/CN=issued', usage = '' } = {}): Promise<Issued> {
    this.#issued += 1;
    const at = (suffix: string) => join(this.#folder, `${this.#issued}-${suffix}`);
    const [keyFile, request, extensions, certFile] = [
      at('key.pem'),
      at('request.pem'),
      at('extensions'),
      at('cert.pem'),
    ];
    await run('openssl', ['req', ...EC_KEY, '-subj', subject, '-keyout', keyFile, '-out', request]);
    const lines = [name === null ? '' : `subjectAltName=${name}`, usage === '' ? '' : `extendedKeyUsage=${usage}`];
    await writeFile(extensions, `${lines.join('\n')}\n`);
    const signing = ['-CA', this.file, '-CAkey', join(this.#folder, 'ca-key.pem'), '-set_serial', String(this.#issued)];
    const days = ['-days', expired ? '-1' : '2', '-extfile', extensions];
    await run('openssl', ['x509', '-req', '-in', request, ...signing, ...days, '-out', certFile]);
    return { certFile, keyFile, cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') };
  }
}
