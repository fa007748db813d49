// Preloaded into the server: counts the queries that read the database. `memory.mjs` reports the number.
import Libsql from "libsql";

globalThis.benchReads = 0;
const { prepare } = Libsql.prototype;
Libsql.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  for (const name of ["get", "all"]) {
    const query = statement[name];
    statement[name] = (...values) => {
      globalThis.benchReads += 1;
      return query.apply(statement, values);
    };
  }
  return statement;
};
