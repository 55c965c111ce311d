#ifndef COUNTER_H
#define COUNTER_H
#ifdef __cplusplus
extern "C" {
#endif
void counter_add(int locked);
int counter_value(void);
#ifdef __cplusplus
}
#endif
#endif
