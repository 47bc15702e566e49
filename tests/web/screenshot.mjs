// Makes the picture in the README: node screenshot.mjs FILE
import { Browser, select, untilRow } from './browser.mjs';
import { Daemon } from './daemon.mjs';

const file = process.argv[2];
const daemon = await Daemon.start(`
[policy]
[sandbox]
`);
const browser = await Browser.open({ viewport: { width: 1200, height: 760 }, colorScheme: 'dark' });
try {
  const release = { taskId: 'Release 2.4' };
  const build = await daemon.session('build', 'agent', release);
  const tests = await daemon.session('tests', 'agent', release);
  const notes = await daemon.session('notes', 'person');
  const waits = [];
  await daemon.run(notes, 'git --version', 'person');
  await daemon.run(build, 'ls /usr/share/doc | wc -l', 'agent');
  await daemon.run(build, 'cat /etc/debian_version', 'agent');
  await daemon.run(build, 'ls /nonexistent', 'agent');
  await daemon.run(build, 'head -n 12 /usr/share/common-licenses/Apache-2.0', 'agent');
  waits.push(daemon.run(tests, 'sleep 120'));
  const page = await browser.page(daemon.address);
  await select(page, build);
  await untilRow(page, 'the licence', (row) => row.includes('Apache License'));
  waits.push(daemon.run(build, 'npm publish --tag latest && git push origin v2.4.0', 'agent'));
  await page.locator('.approval').waitFor();
  await page.locator('.parts li').nth(1).waitFor();
  await page.locator('.answers button.primary:enabled').waitFor();
  await page.screenshot({ path: file });
  for (const waiting of waits) waiting.catch(() => {});
} finally {
  await browser.close();
  await daemon.end();
}
