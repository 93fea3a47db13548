#!/bin/bash
# Copies the primary at the first start, and follows it from then on.
set -euo pipefail
export PGDATA=${PGDATA:-/var/lib/postgresql/data}
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  until pg_basebackup -d "host=primary user=replicator application_name=standby" -D "$PGDATA" \
    --write-recovery-conf --slot standby --checkpoint=fast; do
    rm -rf "${PGDATA:?}"/*
    sleep 1
  done
  chmod 700 "$PGDATA"
  # Promoted, it waits for no standby of its own.
  echo "synchronous_standby_names = ''" >> "$PGDATA/postgresql.auto.conf"
fi
exec postgres
