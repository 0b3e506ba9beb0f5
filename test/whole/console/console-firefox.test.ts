// The console in a real Firefox (REQUIRE_FIREFOX=1) → a maintenance followed and approved there.
import assert from 'node:assert/strict';
import test from 'node:test';
import { openFirefox } from '../../support/firefox.ts';
import { startConsole, TOKENS } from './console-bridge.ts';

const ENTER = '\uE007';
const skip =
  !process.env['REQUIRE_FIREFOX'] &&
  'set REQUIRE_FIREFOX=1 where there is the package firefox-esr, or name the program in FIREFOX';

test('in Firefox a maintenance is followed live, and approved', { skip }, async (t) => {
  const { azure, url } = await startConsole(t, {}, { vms: ['web_0', 'web_1'] });
  const page = await openFirefox(t, url);
  await page.until(`document.getElementById('live').textContent === 'Live'`);
  azure.schedule({ EventType: 'Reboot', Resources: ['web_0', 'web_1'] });
  await page.until(`document.querySelector('#event-list h3')?.textContent.includes('Reboot of web_0, web_1')`);
  await page.evaluate(`document.getElementById('token').focus()`);
  await page.type(TOKENS.orders + ENTER);
  await page.until(`document.activeElement.id === 'who-name'`);
  await page.click('#event-list button');
  await page.until(`document.getElementById('ask').open && document.activeElement.id === 'ask-cancel'`);
  assert.match(
    String(await page.evaluate(`document.getElementById('ask-words').textContent`)),
    /It reaches 2 machines/,
  );
  await page.click('#ask-do');
  await page.until(`document.querySelector('#event-list .course')?.textContent.startsWith('Started')`);
  assert.equal(azure.approvals().length, 1);
});
