// The mutant that is to be active → the global state that StrykerJS' instrumented code reads.
import type { InstrumenterContext } from '@stryker-mutator/api/core';
import { INSTRUMENTER_CONSTANTS } from '@stryker-mutator/api/core';

/** Shared by each copy of each instrumented file. */
export function strykerState(): InstrumenterContext {
  const { NAMESPACE } = INSTRUMENTER_CONSTANTS;
  const globals = globalThis as { [NAMESPACE]?: InstrumenterContext };
  const state = globals[NAMESPACE] ?? {};
  globals[NAMESPACE] = state;
  return state;
}

/** Also for processes that a test starts: they read the variable. */
export function activate(mutant: string, hitLimit: number | undefined): void {
  const state = strykerState();
  state.activeMutant = mutant;
  state.hitCount = 0;
  if (hitLimit !== undefined) state.hitLimit = hitLimit;
  process.env[INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE] = mutant;
}

/** Returns how often its code ran. */
export function deactivate(): number | undefined {
  const state = strykerState();
  const { hitCount } = state;
  delete state.activeMutant;
  delete state.hitCount;
  delete state.hitLimit;
  delete process.env[INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE];
  return hitCount;
}
