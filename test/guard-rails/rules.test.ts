import { test } from 'vitest';
import { createGuard } from '../../lib/guard-rails/guard.ts';
import { rules } from './rules.ts';

for (const rule of rules) test(rule.name, () => rule({ createGuard }));
