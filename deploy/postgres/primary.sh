#!/bin/bash
# Runs once, when the image creates the database of the primary.
set -euo pipefail
psql -v ON_ERROR_STOP=1 -v password="$REPLICATION_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
create extension if not exists vector;
create extension if not exists btree_gin;
create role replicator login replication password :'password';
select pg_create_physical_replication_slot('standby');
-- Takes effect with the restart that follows: before there is a standby no commit could end.
alter system set synchronous_standby_names = 'standby';
alter system set max_slot_wal_keep_size = '20GB';
alter system set idle_in_transaction_session_timeout = '60s';
alter system set client_connection_check_interval = '10s';
alter system set shared_buffers = '1GB';
SQL
echo "host replication replicator all scram-sha-256" >> "$PGDATA/pg_hba.conf"
