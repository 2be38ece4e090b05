// Which programs a server finds.
import { existsSync } from 'node:fs';
import path from 'node:path';

/** PATH as it is, but for the directories that have that program. */
export const pathWithout = (program) => process.env.PATH.split(':').filter((each) => !existsSync(path.join(each, program))).join(':');
