import { test } from 'vitest';
import { createGuard } from '../../lib/guard-rails/guard.ts';
import { createHandOver } from '../../lib/orders/hand-over.ts';
import { createMemoryOrderJournal, createSettlement } from '../../lib/orders/index.ts';
import { handOverRules } from './hand-over-rules.ts';
import { releaseRules } from './release-rules.ts';
import { rules } from './rules.ts';

const subject = { createGuard, createHandOver, createMemoryOrderJournal, createSettlement };

for (const rule of [...rules, ...releaseRules, ...handOverRules]) test(rule.name, () => rule(subject));
