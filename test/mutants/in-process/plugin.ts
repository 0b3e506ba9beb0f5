// StrykerJS' list of plugins → the runner `in-process`.
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { InProcessRunner } from './runner.ts';

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'in-process', InProcessRunner)];

/** Of the option `inProcess`. */
export const strykerValidationSchema = {
  properties: {
    inProcess: { type: 'object', properties: { testFiles: { type: 'array', items: { type: 'string' } } } },
  },
};
