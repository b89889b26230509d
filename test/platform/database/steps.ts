import type { Migration } from '../../../src/platform/database/migrations.ts'

/** Two migrations for tests. The second one rebuilds a table. */
export const STEPS: readonly Migration[] = [
  { summary: 'Add icons to labels.', sql: 'alter table label add column icon text' },
  {
    summary: 'Create the table of labels again.',
    sql: `create table label_new (id text primary key, company_id text not null references company (id) on delete cascade,
     name text not null collate nocase, color text not null, icon text, created_at text not null, updated_at text not null) strict;
   insert into label_new select id, company_id, name, color, icon, created_at, updated_at from label;
   drop table label; alter table label_new rename to label`,
  },
]
