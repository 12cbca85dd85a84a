/* The words of the query language as tables, for `neap query --fields` and its like. */
#ifndef NEAP_CMD_VOCABULARY_H
#define NEAP_CMD_VOCABULARY_H

void vocabulary_fields(void); /* fields, keys, columns, quantifiers */
void vocabulary_formats(void);
void vocabulary_populations(void);

#endif
