// A file → an ext4 disk of its own for the service's state, whose power can be cut.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { command } from './command.ts';

/** EXT4_IOC_SHUTDOWN without a last flush of the journal: what was not flushed is lost, and nothing more is taken. */
const CUT = `
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack('I', 2))
`;

export class StateDisk {
  readonly #image: string;
  readonly #folder: string;

  constructor(image: string, folder: string) {
    this.#image = image;
    this.#folder = folder;
  }

  make(): void {
    command('truncate', ['--size=64M', this.#image]);
    command('mkfs.ext4', ['-q', this.#image]);
    command('mkdir', ['-p', this.#folder]);
  }

  mount(): void {
    if (this.#isMounted()) return;
    command('mount', ['-o', 'loop', this.#image, this.#folder]);
    command('chmod', ['700', this.#folder]);
  }

  cutPower(): void {
    if (this.#isMounted()) execFileSync('python3', ['-c', CUT, this.#folder]);
  }

  unmount(): void {
    if (this.#isMounted()) command('umount', [this.#folder]);
  }

  /** Whether a mount makes it anew: a mount namespace that somebody copied meanwhile may hold it for a while. */
  get isFree(): boolean {
    return !this.#isMounted() && command('losetup', ['--associated', this.#image]) === '';
  }

  #isMounted(): boolean {
    return existsSync(this.#image) && readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${this.#folder} `);
  }
}
